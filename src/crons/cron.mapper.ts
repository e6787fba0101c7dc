import { maskSealed } from '../crypto/secret-values';
import type { JsonObject } from '../database/json';
import { toApiTime } from '../http/api-time';
import type { CronEntity } from './cron.entity';
import type { FireWithRun } from './cron-fires.repository';
import { CronSchedule } from './cron-schedule';
import type { Cron, CronRun } from './crons.schemas';

const HAS_NO_RUN = ['pending', 'failed', 'skipped'];

/** @param lastFire the cron's last tick, if any */
export function toCron(row: CronEntity, lastFire: FireWithRun | undefined): Cron {
  return {
    cron_id: row.cronId,
    assistant_id: row.assistantId,
    thread_id: row.threadId,
    user_id: row.userId,
    schedule: row.schedule,
    timezone: row.timezone,
    end_time: row.endTime && toApiTime(row.endTime),
    payload: shownPayload(row.payload),
    metadata: row.metadata,
    on_run_completed: row.onRunCompleted,
    enabled: row.enabled,
    next_run_date: nextRunDate(row),
    created_at: toApiTime(row.createdAt),
    updated_at: toApiTime(row.updatedAt),
    status: row.enabled ? 'active' : row.stoppedBy ? 'stopped' : 'paused',
    status_reason: row.statusReason,
    catchup: row.catchup,
    overlap: row.overlap,
    last_run: lastFire ? toCronRun(lastFire) : null,
    consecutive_failures: row.consecutiveFailures,
    last_failure: row.lastFailure,
  };
}

export function toCronRun(fire: FireWithRun): CronRun {
  const hasRun = !HAS_NO_RUN.includes(fire.status);
  return {
    cron_id: fire.cronId,
    run_id: hasRun ? fire.runId : null,
    thread_id: hasRun ? fire.threadId : null,
    trigger: fire.trigger,
    status: fire.status === 'started' ? (fire.runStatus ?? 'deleted') : fire.status,
    scheduled_at: toApiTime(fire.scheduledAt),
    fired_at: fire.firedAt && toApiTime(fire.firedAt),
    ended_at: fire.endedAt && toApiTime(fire.endedAt),
    error: fire.error,
    missed_ticks: fire.missed,
  };
}

/** The request with masked secrets, without the context by which it is encrypted. */
function shownPayload({ encryption_context: _, ...payload }: JsonObject): JsonObject {
  return maskSealed(payload);
}

/** The next tick, computed from the clock: between a tick and its run the row still has the one that is just due. */
function nextRunDate({ enabled, schedule, timezone, endTime }: CronEntity): string | null {
  const next = enabled ? new CronSchedule(schedule, timezone, endTime).next(new Date()) : null;
  return next && toApiTime(next);
}
