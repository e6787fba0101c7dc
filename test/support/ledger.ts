import type { Pool } from 'pg';

export interface Execution {
  run_id: string;
  thread_id: string;
  node: string;
  /** The idempotency key that the node was given. */
  key: string;
  attempt: number;
  pid: number;
  started_at: Date;
  ended_at: Date | null;
}

/** A table in which test graphs record each execution of a node, independent of everything that Gantry controls. */
export class Ledger {
  constructor(private readonly sql: Pool) {}

  async create(): Promise<void> {
    await this.sql.query(`
      CREATE SCHEMA IF NOT EXISTS ledger;
      CREATE TABLE IF NOT EXISTS ledger.executions (
        id bigserial PRIMARY KEY, run_id uuid NOT NULL, thread_id uuid NOT NULL, node text NOT NULL, key text NOT NULL,
        attempt integer NOT NULL, pid integer NOT NULL,
        started_at timestamptz NOT NULL DEFAULT clock_timestamp(), ended_at timestamptz
      );
      CREATE INDEX IF NOT EXISTS executions_run ON ledger.executions (run_id)`);
  }

  /** Executions of a run's nodes, in the order in which they began. */
  async of(runId: string): Promise<Execution[]> {
    const { rows } = await this.sql.query<Execution>(`SELECT * FROM ledger.executions WHERE run_id = $1 ORDER BY id`, [
      runId,
    ]);
    return rows;
  }

  async all(): Promise<Execution[]> {
    return (await this.sql.query<Execution>(`SELECT * FROM ledger.executions ORDER BY id`)).rows;
  }
}
