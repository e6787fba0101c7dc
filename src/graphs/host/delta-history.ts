import { isStored } from '../../database/delta-channels';
import { prepared } from '../../patches/pg/prepared-statements';
import { CHECKPOINT_SCHEMA } from '../../database/schemas';
import { WRITE_ORDER } from './checkpoint-writes';
import type { Connections } from './tenant-connections';

const schema = `"${CHECKPOINT_SCHEMA}"`;

/**
 * The ancestors of a checkpoint up to the nearest that has the value of a channel, for each of the channels: their writes
 * to it from the earliest on, and that value, if any, which has no task.
 */
const READ = prepared(
  'delta-history',
  `
  WITH RECURSIVE walk AS (
    SELECT channel, parent_checkpoint_id AS checkpoint_id, 1 AS depth
    FROM ${schema}.checkpoints, unnest($4::text[]) AS channel
    WHERE thread_id = $1 AND checkpoint_ns = $2 AND parent_checkpoint_id IS NOT NULL AND checkpoint_id = coalesce(
      $3, (SELECT max(checkpoint_id) FROM ${schema}.checkpoints WHERE thread_id = $1 AND checkpoint_ns = $2)
    )
    UNION ALL
    SELECT walk.channel, ancestor.parent_checkpoint_id, depth + 1
    FROM walk JOIN ${schema}.checkpoints ancestor USING (checkpoint_id)
    WHERE ancestor.thread_id = $1 AND ancestor.checkpoint_ns = $2 AND ancestor.parent_checkpoint_id IS NOT NULL
      AND NOT ${isStored('ancestor', 'walk.channel')}
  )
  SELECT channel, task_id, type, blob FROM (
    SELECT channel, depth, stored.type, blob, NULL AS task_id, NULL AS task_path, NULL AS idx
    FROM walk
    JOIN ${schema}.checkpoints ancestor USING (checkpoint_id)
    JOIN ${schema}.checkpoint_blobs stored USING (thread_id, checkpoint_ns, channel)
    WHERE thread_id = $1 AND checkpoint_ns = $2
      AND version = checkpoint->'channel_versions'->>channel AND stored.type <> 'empty'
    UNION ALL
    SELECT channel, depth, type, blob, task_id, task_path, idx
    FROM walk
    JOIN ${schema}.checkpoint_writes USING (checkpoint_id, channel)
    WHERE thread_id = $1 AND checkpoint_ns = $2
  ) AS history
  ORDER BY depth DESC, ${WRITE_ORDER}`,
);

interface Row {
  channel: string;
  task_id: string | null;
  type: string;
  blob: Buffer;
}

export interface DeltaHistory {
  seed?: Row;
  writes: (Row & { task_id: string })[];
}

/**
 * Data from which the values of delta channels at a checkpoint are computed.
 * @param checkpointId undefined for the newest
 */
export async function readDeltaHistory(
  connections: Connections,
  threadKey: string,
  namespace: string,
  checkpointId: string | undefined,
  channels: string[],
): Promise<Map<string, DeltaHistory>> {
  const histories = new Map(channels.map((channel): [string, DeltaHistory] => [channel, { writes: [] }]));
  const { rows } = await connections.query<Row>(READ, [threadKey, namespace, checkpointId, channels]);
  for (const row of rows) {
    const history = histories.get(row.channel)!;
    if (isWrite(row)) history.writes.push(row);
    else history.seed = row;
  }
  return histories;
}

function isWrite(row: Row): row is Row & { task_id: string } {
  return row.task_id !== null;
}
