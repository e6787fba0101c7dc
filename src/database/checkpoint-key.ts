/** The default tenant, whose checkpoints keep their original thread ids. */
export const UNPREFIXED_TENANT = '00000000-0000-0000-0000-000000000000';

/**
 * The `thread_id` of LangGraph's tables, which know no tenants: two tenants may have a thread of the same id, and each has
 * its own checkpoints. Row-level security on those tables reads the tenant from the key (tenant-isolation.ts).
 */
export function checkpointKey(tenantId: string, threadId: string): string {
  return tenantId === UNPREFIXED_TENANT ? threadId : `${checkpointPrefix(tenantId)}${threadId}`;
}

/** The reverse of `checkpointKey`. */
export function threadOfKey(tenantId: string, key: string): string {
  return key.startsWith(checkpointPrefix(tenantId)) ? key.slice(checkpointPrefix(tenantId).length) : key;
}

function checkpointPrefix(tenantId: string): string {
  return `${tenantId}/`;
}
