import { type PendingWrite, WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint';
import { storedBytesColumn, storedJsonColumn } from '../../database/at-rest';
import { textArray } from '../../database/binary-array';
import { type Fence, FencedError } from '../../database/fence';
import { prepared } from '../../patches/pg/prepared-statements';
import { type Connections, settingTenant } from './tenant-connections';

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

const PARAMETERS = Array.from({ length: 22 }, (_, index) => `$${index + 1}`);
const STORE = prepared(
  'store-checkpoints',
  `SELECT 1 WHERE ${settingTenant(PARAMETERS.length, `store_checkpoints(${PARAMETERS.join(', ')})`)}`,
);

/** Rows that one statement stores, and the conditions on them. */
export interface Stored {
  /** Key of the thread in the tables. */
  threadKey: string;
  rows: Rows;
  /** Whether a write of a task that exists is replaced; otherwise it stays as it is. */
  replacesWrites: boolean;
  /** Attempt that has to hold its run; absent for writes that belong to no run. */
  fence?: Fence;
}

/**
 * Stores rows of a thread, all or none.
 * @throws {FencedError} when another attempt holds the run
 */
export async function storeRows(connections: Connections, { threadKey, rows, replacesWrites, fence }: Stored) {
  const { blobs, writes, checkpoints } = rows;
  // Possibly long values are sent in binary format.
  const { rowCount } = await connections.querySettingTenant(STORE, [
    ...[fence?.runId ?? null, fence?.attempt ?? null, threadKey, replacesWrites],
    ...columns(blobs, 4),
    storedBytesColumn(
      'checkpoint',
      'values',
      blobs.map(([, , , , blob]) => blob),
    ),
    ...columns(writes, 7),
    storedBytesColumn(
      'checkpoint',
      'writes',
      writes.map((row) => row[7]),
    ),
    ...columns(checkpoints, 3),
    textArray(checkpoints.map(([, , , checkpoint]) => checkpoint)),
    storedJsonColumn(
      'checkpoint',
      'metadata',
      checkpoints.map(([, , , , metadata]) => metadata),
    ),
  ]);
  if (fence && rowCount === 0) throw new FencedError(fence);
}

/** Rows as the arrays of their first columns. */
function columns(rows: unknown[][], count: number): unknown[][] {
  return Array.from({ length: count }, (_, index) => rows.map((row) => row[index]));
}
