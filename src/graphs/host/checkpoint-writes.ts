import { type PendingWrite, WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint';
import { storedBytesColumn } from '../../database/at-rest';
import { CHECKPOINT_SCHEMA } from '../../database/schemas';

/** A write of a task to a channel, as it is stored with the checkpoint that the task ran from. */
export type WriteRow = [
  ns: string,
  checkpointId: string,
  taskId: string,
  taskPath: string,
  index: number,
  channel: string,
  type: string,
  blob: Buffer,
];

/** The value of a channel in a version; null for a channel without one. */
export type BlobRow = [ns: string, channel: string, version: string, type: string, blob: Buffer | null];

/** A checkpoint, without its values; two of its columns are JSON text. */
export type CheckpointRow = [ns: string, id: string, parent: string | null, checkpoint: string, metadata: string];

/** Rows of one thread. */
export interface Rows {
  blobs: BlobRow[];
  writes: WriteRow[];
  checkpoints: CheckpointRow[];
}

/**
 * The order in which a step applied its writes, that of `writesSortKey` in LangGraph's checkpoint library: by code points,
 * whatever the collation of the database is.
 */
export const WRITE_ORDER = `task_path COLLATE "C", task_id COLLATE "C", idx`;

/** A task has one interrupt, one error and one answer: the newest. Its other writes are never replaced. */
export function replacesKnown(writes: PendingWrite[]): boolean {
  return writes.every(([channel]) => channel in WRITES_IDX_MAP);
}

/**
 * The statement that stores writes, whose rows `writeParameters` gives it.
 * @param thread the placeholder of the thread's key
 * @param first the number of the first placeholder of the rows
 */
export function insertWrites(thread: string, first: number, replacing: boolean, condition = 'true'): string {
  const types = ['text', 'text', 'text', 'text', 'int', 'text', 'text', 'bytea'];
  const parameters = types.map((type, index) => `$${first + index}::${type}[]`).join(', ');
  const onKnown = replacing
    ? 'DO UPDATE SET channel = EXCLUDED.channel, type = EXCLUDED.type, blob = EXCLUDED.blob'
    : 'DO NOTHING';
  return `INSERT INTO "${CHECKPOINT_SCHEMA}".checkpoint_writes
      (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob)
    SELECT ${thread}, row.* FROM unnest(${parameters}) AS row
    WHERE ${condition}
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) ${onKnown}`;
}

/** The parameters of `insertWrites`, one array a column. */
export function writeParameters(rows: WriteRow[]): unknown[] {
  // Possibly long values are sent in binary format.
  const blobs = rows.map((row) => row[7]);
  return [...columns(rows, 7), storedBytesColumn('checkpoint', 'writes', blobs)];
}

/** Rows as the arrays of their first columns. */
export function columns(rows: unknown[][], count: number): unknown[][] {
  return Array.from({ length: count }, (_, index) => rows.map((row) => row[index]));
}
