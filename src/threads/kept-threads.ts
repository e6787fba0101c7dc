import type { EntityManager } from 'typeorm';
import type { ThreadKey } from './thread-key';

/**
 * Makes the temporary thread of a run an ordinary one, and gives it a time to live of at least so many minutes, which begins
 * again: whatever uses the thread later restarts it, and its owner can change it. Resolves to false if there is no such thread.
 */
export async function keepAtLeast(
  manager: EntityManager,
  { tenantId, threadId }: ThreadKey,
  minutes: number,
): Promise<boolean> {
  const [, kept]: [unknown, number] = await manager.query(
    `UPDATE threads SET temporary = false, delete_after = NULL, updated_at = now(),
       ttl_strategy = coalesce(ttl_strategy, 'delete'), ttl_minutes = greatest(ttl_minutes, $3::float8)
     WHERE tenant_id = $1 AND thread_id = $2`,
    [tenantId, threadId, minutes],
  );
  return kept > 0;
}
