import type { DataSource, EntityManager } from 'typeorm';

/**
 * How long a change that locks out all readers of a table waits for those that are there, such as a backup: whatever else uses the
 * table waits for the change meanwhile.
 */
const LOCK_TIMEOUT = '1s';

/**
 * Executes statements that lock whole tables in one transaction.
 * @throws an error that `isLockTimeout` recognizes when a lock could not be had in time; nothing is changed then
 */
export function withBriefLock<T>(database: DataSource, work: (manager: EntityManager) => Promise<T>): Promise<T> {
  return database.transaction(async (manager) => {
    await manager.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    return work(manager);
  });
}
