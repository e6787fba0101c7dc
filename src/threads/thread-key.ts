/** Key of a thread, whose id is only unique within its tenant. */
export interface ThreadKey {
  tenantId: string;
  threadId: string;
}

/** Rows of (tenant_id, thread_id), from the first two parameters of a statement. */
export const THREAD_KEYS = `SELECT * FROM unnest($1::uuid[], $2::uuid[])`;

/** The parameters of `THREAD_KEYS`. */
export function threadKeys(threads: ThreadKey[]): [tenantIds: string[], threadIds: string[]] {
  return [threads.map(({ tenantId }) => tenantId), threads.map(({ threadId }) => threadId)];
}
