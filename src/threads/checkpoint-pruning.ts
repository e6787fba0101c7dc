import { EntityManager } from 'typeorm';
import { replayedBy } from '../database/delta-channels';
import { CHECKPOINT_SCHEMA } from '../database/schemas';

/** Rows that one transaction removes: enough to be quick, few enough that a starting run hardly waits. */
const BATCH = 2_000;

const CHECKPOINTS = `${CHECKPOINT_SCHEMA}.checkpoints`;
const BLOBS = `${CHECKPOINT_SCHEMA}.checkpoint_blobs`;
const WRITES = `${CHECKPOINT_SCHEMA}.checkpoint_writes`;

/**
 * Checkpoints that a thread needs to continue: the newest checkpoint of the graph, those of nested graphs that wait at it (a
 * nested graph's name has a colon where it belongs to one task, and its checkpoints name the one above them), the newest of
 * nested graphs that keep a state of their own, and the ancestors that the values of delta channels are read from.
 */
const NEEDED = `
  WITH RECURSIVE latest AS (
    SELECT checkpoint_id FROM ${CHECKPOINTS} WHERE thread_id = $1 AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1
  ),
  kept AS (
    SELECT DISTINCT ON (checkpoint_ns) checkpoint_ns, checkpoint_id FROM ${CHECKPOINTS}
    WHERE thread_id = $1
      AND (position(':' IN checkpoint_ns) = 0 OR metadata->'parents'->>'' = (SELECT checkpoint_id FROM latest))
    ORDER BY checkpoint_ns, checkpoint_id DESC
  ),
  ${replayedBy('SELECT checkpoint_ns, checkpoint_id FROM kept')}
  SELECT checkpoint_ns, checkpoint_id FROM kept
  UNION
  SELECT checkpoint_ns, checkpoint_id FROM replayed`;

/**
 * In this order, since writes and values are deleted if no checkpoint refers to them any more. `NOT IN` is looked up in a hash
 * whatever the statistics say; joined, a thread much larger than the others was compared row by row.
 */
const STEPS = [
  remove(CHECKPOINTS, '(checkpoint_ns, checkpoint_id)', NEEDED),
  remove(
    WRITES,
    '(checkpoint_ns, checkpoint_id)',
    `SELECT checkpoint_ns, checkpoint_id FROM ${CHECKPOINTS} WHERE thread_id = $1`,
  ),
  remove(
    BLOBS,
    '(checkpoint_ns, channel, version)',
    `SELECT checkpoint_ns, used.key, used.value FROM ${CHECKPOINTS}, jsonb_each_text(checkpoint->'channel_versions') AS used
     WHERE thread_id = $1 AND used.value IS NOT NULL`,
  ),
];

function remove(table: string, key: string, kept: string): string {
  return `DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM ${table} WHERE thread_id = $1 AND ${key} NOT IN (${kept}) LIMIT ${BATCH}
  ))`;
}

/**
 * Removes the next part of the data that later runs of a thread don't need; resolves to whether there was any. Between two
 * parts the thread is consistent: its latest state, and the rest of its history.
 *
 * Requires that the caller holds the thread's row lock and no run is in flight, since a run may refer to what it has read.
 */
export async function pruneNext(manager: EntityManager, threadId: string): Promise<boolean> {
  for (const step of STEPS) {
    const [, removed]: [unknown[], number] = await manager.query(step, [threadId]);
    if (removed > 0) return true;
  }
  return false;
}
