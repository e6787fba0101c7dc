import { Injectable } from '@nestjs/common';
import { currentCipher } from '../database/at-rest';
import type { RunError } from '../graphs/host/protocol';
import type { EntityManager } from 'typeorm';
import { type AssistantListener, ListensToAssistants } from '../assistants/assistant-listeners';
import type { RunEnding } from '../runs/run-ending';
import type { RunEntity } from '../runs/run.entity';
import { ListensToRuns, type RunListener } from '../runs/run-listeners';
import type { DeliveryReference } from '../temporal/webhook-orchestrator';
import { type ThreadKey, threadKeys } from '../threads/thread-key';
import { ListensToThreads, type ThreadListener } from '../threads/thread-listeners';
import type { StopCause } from './cron.entity';

const TIME = `'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'`;
const FAILURE = `jsonb_build_object('run_id', fire.run_id, 'error', $4::text,
  'scheduled_at', to_char(fire.scheduled_at AT TIME ZONE 'UTC', ${TIME}), 'failed_at', to_char(now() AT TIME ZONE 'UTC', ${TIME}))`;

/** Consequences of the ends of runs, threads and assistants for crons. The sweep updates their Schedules. */
@Injectable()
@ListensToRuns(2)
@ListensToThreads(1)
@ListensToAssistants(1)
export class CronOutcomes implements RunListener, ThreadListener, AssistantListener {
  follows({ metadata }: RunEntity): boolean {
    return typeof metadata.cron_id === 'string';
  }

  /** Records the end of a cron's run with its tick and its cron. */
  async ended(manager: EntityManager, run: RunEntity, ending: RunEnding): Promise<DeliveryReference[]> {
    const status = ending.status === 'deleted' ? 'interrupted' : ending.status;
    const failed = status === 'error' || status === 'timeout';
    const error = ending.error ? shownError(ending.error) : null;
    await manager.query(
      `WITH fire AS (
         UPDATE cron_fires SET status = $3, error = $4, ended_at = now()
         WHERE tenant_id = $1 AND run_id = $2 AND status = 'started'
         RETURNING cron_id, run_id, scheduled_at
       )
       UPDATE crons c SET
         consecutive_failures = CASE WHEN $5 THEN consecutive_failures + 1 WHEN $3 = 'success' THEN 0 ELSE consecutive_failures END,
         last_failure = CASE WHEN $5 THEN ${FAILURE} ELSE last_failure END
       FROM fire WHERE c.tenant_id = $1 AND c.cron_id = fire.cron_id`,
      [run.tenantId, run.runId, status, error, failed],
    );
    return [];
  }

  /** Stops the crons of the threads. */
  async threadsDeleted(manager: EntityManager, threads: ThreadKey[]): Promise<void> {
    const where = '(tenant_id, thread_id) IN (SELECT * FROM unnest($2::uuid[], $3::uuid[]))';
    await stop(manager, 'thread', `'Thread ' || thread_id || ' was deleted'`, where, threadKeys(threads));
  }

  /** Stops the crons of the assistant. */
  async assistantDeleted(manager: EntityManager, tenantId: string, assistantId: string): Promise<void> {
    const reason = `'Assistant ' || assistant_id || ' was deleted'`;
    await stop(manager, 'assistant', reason, 'tenant_id = $2 AND assistant_id = $3', [tenantId, assistantId]);
  }
}

/** The error without its message where states are encrypted: it may quote the state, and stays with the run alone. */
function shownError({ error, message }: RunError): string {
  return currentCipher() ? error : `${error}: ${message}`;
}

async function stop(
  manager: EntityManager,
  cause: StopCause,
  reason: string,
  where: string,
  parameters: unknown[],
): Promise<void> {
  await manager.query(
    `UPDATE crons SET enabled = false, stopped_by = $1, status_reason = ${reason}, next_run_at = NULL,
       revision = revision + 1, updated_at = now()
     WHERE ${where} AND deleted_at IS NULL AND stopped_by IS DISTINCT FROM $1`,
    [cause, ...parameters],
  );
}
