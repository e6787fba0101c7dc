import type { EntityManager } from 'typeorm';
import { checkpointKey } from '../database/checkpoint-key';
import { replayedBy } from '../database/delta-channels';
import { CHECKPOINT_SCHEMA } from '../database/schemas';
import type { RunEntity } from './run.entity';

const CHECKPOINTS = `${CHECKPOINT_SCHEMA}.checkpoints`;
const WRITES = `${CHECKPOINT_SCHEMA}.checkpoint_writes`;

/**
 * Removes the checkpoints of a run, with the writes that belong to them. Keeps checkpoints from which later ones, of other runs or edits,
 * read the values of delta channels, and those that a running one may have begun with.
 * @param takesBack whether its writes on checkpoints of earlier runs are removed as well, and what they replaced is restored: its answer
 *   to a question, and the results of its first step. Later runs may have continued with those of a run that has ended.
 */
export async function deleteCheckpoints(manager: EntityManager, run: RunEntity, takesBack: boolean): Promise<void> {
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
     kept AS (
       SELECT checkpoint_ns, checkpoint_id FROM replayed UNION SELECT * FROM begun
     ),
     gone AS (
       DELETE FROM ${CHECKPOINTS}
       WHERE thread_id = $1 AND metadata->>'run_id' = $2 AND (checkpoint_ns, checkpoint_id) NOT IN (SELECT * FROM kept)
       RETURNING checkpoint_ns, checkpoint_id
     ),
     restored AS (
       UPDATE ${WRITES} SET run_id = (replaced).run_id, channel = (replaced).channel, type = (replaced).type,
         blob = (replaced).blob, replaced = NULL
       WHERE $5 AND thread_id = $1 AND run_id::text = $2 AND (replaced).blob IS NOT NULL
         AND (checkpoint_ns, checkpoint_id) NOT IN (SELECT * FROM kept UNION ALL SELECT * FROM gone)
     )
     DELETE FROM ${WRITES}
     WHERE thread_id = $1 AND (
       (checkpoint_ns, checkpoint_id) IN (SELECT * FROM gone)
       OR ($5 AND run_id::text = $2 AND (replaced).blob IS NULL AND (checkpoint_ns, checkpoint_id) NOT IN (SELECT * FROM kept))
     )`,
    [checkpointKey(run.tenantId, run.threadId), run.runId, run.tenantId, run.threadId, takesBack],
  );
}
