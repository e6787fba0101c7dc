import type { EntityManager } from 'typeorm';
import { storedText } from '../database/at-rest';
import { END_EVENT, END_HINT, type RunEnd, RUN_EVENTS_CHANNEL } from '../streams/run-event';
import type { RunEntity } from './run.entity';

/** Writes the end of a run's log, which closes its streams, and notifies the readers. */
export async function appendEnd(manager: EntityManager, run: RunEntity, end: RunEnd): Promise<void> {
  await manager.query(
    `INSERT INTO run_events (run_id, seq, tenant_id, event, data)
     SELECT $1, coalesce(max(seq), -1) + 1, $2, $3, $4 FROM run_events WHERE run_id = $1`,
    [run.runId, run.tenantId, END_EVENT, storedText('run', 'events', JSON.stringify(end))],
  );
  await manager.query(`SELECT pg_notify('${RUN_EVENTS_CHANNEL}', $1)`, [run.runId + END_HINT]);
}

/** Deletes the log of a run that is deleted, but its end, which closes the streams of its readers. */
export async function forgetLog(manager: EntityManager, runId: string): Promise<void> {
  await manager.query(
    `DELETE FROM run_events WHERE run_id = $1 AND seq < (SELECT max(seq) FROM run_events WHERE run_id = $1)`,
    [runId],
  );
}
