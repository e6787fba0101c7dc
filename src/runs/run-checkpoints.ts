import type { EntityManager } from 'typeorm';
import { checkpointKey } from '../database/checkpoint-key';
import { replayedBy } from '../database/delta-channels';
import { CHECKPOINT_SCHEMA } from '../database/schemas';
import type { RunEntity } from './run.entity';

const CHECKPOINTS = `${CHECKPOINT_SCHEMA}.checkpoints`;

/**
 * Removes what a run wrote: checkpoints, and the writes that belong to them. Keeps checkpoints from which later ones, of other
 * runs or edits, read the values of delta channels, and those that a running one may have begun with.
 */
export async function deleteCheckpoints(manager: EntityManager, run: RunEntity): Promise<void> {
  await manager.query(
    `WITH RECURSIVE written AS (
       SELECT checkpoint_ns, checkpoint_id FROM ${CHECKPOINTS}
       WHERE thread_id = $1 AND metadata->>'run_id' = $2
     ),
     following AS (
       SELECT child.checkpoint_ns, child.checkpoint_id FROM ${CHECKPOINTS} child
       JOIN written ON child.checkpoint_ns = written.checkpoint_ns AND child.parent_checkpoint_id = written.checkpoint_id
       WHERE child.thread_id = $1 AND child.metadata->>'run_id' IS DISTINCT FROM $2
     ),
     begun AS (
       SELECT DISTINCT ON (checkpoint_ns) checkpoint_ns, checkpoint_id FROM ${CHECKPOINTS}
       WHERE thread_id = $1 AND EXISTS (
         SELECT FROM runs WHERE tenant_id = $3 AND thread_id = $4 AND status = 'running' AND run_id::text <> $2
       )
       ORDER BY checkpoint_ns, checkpoint_id DESC
     ),
     ${replayedBy('SELECT * FROM following UNION SELECT * FROM begun')},
     gone AS (
       DELETE FROM ${CHECKPOINTS}
       WHERE thread_id = $1 AND metadata->>'run_id' = $2
         AND (checkpoint_ns, checkpoint_id) NOT IN (SELECT checkpoint_ns, checkpoint_id FROM replayed UNION SELECT * FROM begun)
       RETURNING checkpoint_ns, checkpoint_id
     )
     DELETE FROM ${CHECKPOINT_SCHEMA}.checkpoint_writes w USING gone
     WHERE w.thread_id = $1 AND w.checkpoint_ns = gone.checkpoint_ns AND w.checkpoint_id = gone.checkpoint_id`,
    [checkpointKey(run.tenantId, run.threadId), run.runId, run.tenantId, run.threadId],
  );
}
