import type { DataSource, EntityManager } from 'typeorm';

/**
 * How long a change that locks out all readers of a table waits for those that are there, such as a backup: whatever else uses the
 * table waits for the change meanwhile.
 */
export const BRIEF_LOCK = '1s';

/**
 * Executes statements that lock whole tables in one transaction.
 * @param timeout of each lock, as Postgres reads it: `5s`
 * @throws an error that `isLockTimeout` recognizes when a lock could not be had in that time; nothing is changed then
 */
export function withLockTimeout<T>(
  database: DataSource,
  timeout: string,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  return database.transaction(async (manager) => {
    await manager.query(`SET LOCAL lock_timeout = '${timeout}'`);
    return work(manager);
  });
}
