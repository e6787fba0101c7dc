import { CHECKPOINT_SCHEMA } from './schemas';

const CHECKPOINTS = `${CHECKPOINT_SCHEMA}.checkpoints`;
const BLOBS = `${CHECKPOINT_SCHEMA}.checkpoint_blobs`;

/** Metadata that LangGraph stores with a checkpoint about delta channels whose values aren't in it (its channels/base.js). */
const COUNTERS = 'counters_since_delta_snapshot';
/** Stored with a checkpoint if a delta channel without a version was never written on its branch. */
const VERSIONED = 'delta_writes_versioned';
/** How CheckpointSerializer and the library's own begin a snapshot of a delta channel. */
const SNAPSHOT = '{"lc":2,"type":"delta_snapshot"';

/** Whether a checkpoint has the value of a channel; one that is empty has a row without a value. */
export const isStored = (checkpoint: string, channel: string): string => `EXISTS (
    SELECT FROM ${BLOBS} stored
    WHERE stored.thread_id = ${checkpoint}.thread_id AND stored.checkpoint_ns = ${checkpoint}.checkpoint_ns
      AND stored.channel = ${channel} AND stored.version = ${checkpoint}.checkpoint->'channel_versions'->>${channel}
      AND stored.type <> 'empty'
  )`;

/**
 * The part of a recursive WITH that finds which checkpoints others of the thread $1 are read with. Few checkpoints contain the
 * value of a DeltaChannel. For all others it is computed from the writes of their ancestors, back to the nearest with a value:
 * without these, the channel reads as empty, without an error.
 *
 * The database doesn't know the graph. A channel counts as a delta channel if the library counts supersteps for it anywhere in
 * the thread, or if it has a snapshot: an edit by an earlier release of the library left out the count.
 * @param heads the (checkpoint_ns, checkpoint_id) that are kept
 * @returns the tables up to `replayed`, which has the (checkpoint_ns, checkpoint_id) that they need, and their channels
 */
export const replayedBy = (heads: string): string => `
  counted AS (
    SELECT DISTINCT checkpoint_ns, jsonb_object_keys(
      CASE jsonb_typeof(metadata->'${COUNTERS}') WHEN 'object' THEN metadata->'${COUNTERS}' ELSE '{}' END
    ) AS channel
    FROM ${CHECKPOINTS}
    WHERE thread_id = $1 AND metadata ? '${COUNTERS}'
  ),
  missing AS (
    SELECT head.checkpoint_ns, head.parent_checkpoint_id AS checkpoint_id, named.channel
    FROM ${CHECKPOINTS} head,
      LATERAL (
        SELECT jsonb_object_keys(head.checkpoint->'channel_versions') AS channel
        UNION
        SELECT counted.channel FROM counted
        WHERE counted.checkpoint_ns = head.checkpoint_ns AND head.metadata->>'${VERSIONED}' IS DISTINCT FROM 'true'
      ) AS named
    WHERE head.thread_id = $1 AND (head.checkpoint_ns, head.checkpoint_id) IN (${heads})
      AND head.parent_checkpoint_id IS NOT NULL AND NOT ${isStored('head', 'named.channel')}
      AND (
        (head.checkpoint_ns, named.channel) IN (SELECT counted.checkpoint_ns, counted.channel FROM counted)
        OR EXISTS (
          SELECT FROM ${BLOBS} snapshot
          WHERE snapshot.thread_id = $1 AND snapshot.checkpoint_ns = head.checkpoint_ns AND snapshot.channel = named.channel
            AND substring(snapshot.blob FOR ${SNAPSHOT.length}) = '${SNAPSHOT}'::bytea
        )
      )
  ),
  replayed AS (
    SELECT * FROM missing
    UNION
    SELECT ancestor.checkpoint_ns, ancestor.parent_checkpoint_id, replayed.channel
    FROM replayed JOIN ${CHECKPOINTS} ancestor USING (checkpoint_ns, checkpoint_id)
    WHERE ancestor.thread_id = $1 AND ancestor.parent_checkpoint_id IS NOT NULL
      AND NOT ${isStored('ancestor', 'replayed.channel')}
  )`;
