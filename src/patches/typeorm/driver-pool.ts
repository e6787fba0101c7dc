/**
 * @library typeorm 1.1.1
 * @patch Reads `driver.master`, the pool of the Postgres driver, and calls its `obtainMasterConnection`.
 * @why Statements that TypeORM can't send (COPY, LangGraph's own) need a connection of the same pool, and metrics its counts.
 * @upstream None: the driver is documented, its pool is not.
 * @remove When a data source can be given a pool that was made outside of it.
 */
import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';

interface PostgresDriver<Pool> {
  master?: Pool;
  obtainMasterConnection(): Promise<[PoolClient, (error?: unknown) => void]>;
}

/**
 * The pool that a data source takes its connections from.
 * @returns undefined while the data source isn't connected yet
 */
export function poolOf<Pool>({ driver }: DataSource): Pool | undefined {
  return (driver as unknown as PostgresDriver<Pool>).master;
}

/** A connection of the data source's pool, with the function that gives it back. */
export function takeConnection({ driver }: DataSource): Promise<[PoolClient, (error?: unknown) => void]> {
  return (driver as unknown as PostgresDriver<unknown>).obtainMasterConnection();
}
