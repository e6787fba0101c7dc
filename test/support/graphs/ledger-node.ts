import type { RunnableConfig } from '@langchain/core/runnables';
import { Pool } from 'pg';

let pool: Pool | undefined;

/** Few connections, and none kept open: every graph thread of every worker has its own pool. */
function connections(): Pool {
  pool ??= new Pool({ connectionString: process.env.GANTRY_TEST_LEDGER_URL, max: 2, idleTimeoutMillis: 2_000 });
  return pool;
}

export interface Identity {
  run_id: string;
  thread_id: string;
  checkpoint_ns: string;
  /** Missing on a server that doesn't number attempts. */
  run_attempt?: number;
}

/** Writes an execution of a node down; resolves to a function that writes down its end. */
export async function recordExecution(node: string, config: RunnableConfig): Promise<() => Promise<void>> {
  const { run_id, thread_id, checkpoint_ns, run_attempt = 1 } = config.configurable as Identity;
  const { rows } = await connections().query<{ id: string }>(
    `INSERT INTO ledger.executions (run_id, thread_id, node, key, attempt, pid) VALUES ($1, $2, $3, $4, $5, $6)
     RETURNING id`,
    [run_id, thread_id, node, `${run_id}/${checkpoint_ns}`, run_attempt, process.ppid],
  );
  return async () => {
    await connections().query(`UPDATE ledger.executions SET ended_at = clock_timestamp() WHERE id = $1`, [rows[0].id]);
  };
}

/** Sleeps as a well-behaved tool does: an abort ends it. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Error('aborted'));
    });
  });
}
