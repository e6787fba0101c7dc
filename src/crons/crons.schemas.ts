import { z } from 'zod';
import { jsonObject } from '../runnable-config/runnable-config.schemas';
import { pageSchema } from '../http/pagination';
import { queryInteger } from '../http/query';
import { uuid } from '../http/uuid';
import { createRunSchema, threadParam } from '../runs/runs.schemas';
import { CATCHUP_RULES, OVERLAP_RULES } from './cron.entity';
import { FIRE_STATUSES } from './cron-fire.entity';

export { threadParam };
export const cronParam = z.object({ cron_id: uuid });

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** ISO 8601; without an offset it is UTC, as Python's clients write it. */
const moment = z
  .string()
  .refine((text) => ISO_TIME.test(text) && !Number.isNaN(Date.parse(asUtc(text))), 'must be an ISO 8601 date-time')
  .transform((text) => new Date(asUtc(text)));

function asUtc(text: string): string {
  const [, offset] = ISO_TIME.exec(text) ?? [];
  const time = text.replace(' ', 'T');
  return offset || !time.includes('T') ? time : `${time}Z`;
}

const run = createRunSchema.shape;

/** Fields of a run that a cron can set: all except those of a single request or checkpoint. Defaults are those of runs. */
const runFields = {
  input: run.input,
  metadata: run.metadata,
  config: run.config,
  context: run.context,
  webhook: run.webhook,
  interrupt_before: run.interrupt_before,
  interrupt_after: run.interrupt_after,
  multitask_strategy: run.multitask_strategy.unwrap().optional(),
  stream_mode: run.stream_mode.unwrap().optional(),
  stream_subgraphs: run.stream_subgraphs.unwrap().optional(),
  stream_resumable: run.stream_resumable.unwrap().optional(),
  durability: run.durability,
  checkpoint_during: run.checkpoint_during,
  feedback_keys: run.feedback_keys,
};

const cronFields = {
  ...runFields,
  schedule: z
    .string()
    .max(256)
    .describe('minute hour day-of-month month day-of-week [second], or @hourly, @daily, @weekly, @monthly, @yearly'),
  timezone: z.string().max(64).nullish().describe('IANA name; UTC when absent'),
  end_time: moment.nullish().describe('The last moment at which it may run'),
  on_run_completed: z
    .enum(['delete', 'keep'])
    .optional()
    .describe('Whether the thread of a stateless run is kept or deleted'),
  enabled: z.boolean().optional(),
  catchup: z.enum(CATCHUP_RULES).optional().describe('Which of the ticks that were missed are run'),
  overlap: z.enum(OVERLAP_RULES).optional().describe('Whether a tick is run while an earlier run is still going'),
};

export const createCronSchema = z.object({ assistant_id: z.string().min(1), ...cronFields });
export type CreateCron = z.infer<typeof createCronSchema>;

/** `timezone` and `end_time` are cleared by null; null elsewhere changes nothing. */
export const patchCronSchema = z.object({ ...cronFields, schedule: cronFields.schedule.optional() });
export type PatchCron = z.infer<typeof patchCronSchema>;

const cronFilter = {
  assistant_id: z.string().min(1).optional().describe('A UUID, or the name of a graph'),
  thread_id: uuid.optional(),
  enabled: z.boolean().optional(),
  metadata: jsonObject.optional(),
};
export const countCronsSchema = z.object(cronFilter);
export type CronFilter = z.infer<typeof countCronsSchema>;

export const cronRunSchema = z
  .object({
    cron_id: z.guid(),
    run_id: z.guid().nullable().describe('null while no run was created: see `status`'),
    thread_id: z.guid().nullable(),
    trigger: z.enum(['schedule', 'manual', 'backfill']),
    status: z
      .enum([...FIRE_STATUSES, 'running', 'deleted'])
      .describe(
        'Status of the run, or `failed` (no run could be created), `skipped` (the tick was not run), `deleted`',
      ),
    scheduled_at: z.string().describe('When it was due'),
    fired_at: z.string().nullable().describe('When the run was made'),
    ended_at: z.string().nullable(),
    error: z.string().nullable().describe('Why there is no run, or what the run failed with'),
    missed_ticks: z.number().int().describe('Missed ticks before this one that are not caught up'),
  })
  .meta({ id: 'CronRun' });
export type CronRun = z.infer<typeof cronRunSchema>;

export const cronSchema = z
  .object({
    cron_id: z.guid(),
    assistant_id: z.guid(),
    thread_id: z.guid().nullable(),
    user_id: z.string(),
    schedule: z.string(),
    timezone: z.string().nullable(),
    end_time: z.string().nullable(),
    payload: jsonObject,
    metadata: jsonObject,
    on_run_completed: z.enum(['delete', 'keep']).nullable(),
    enabled: z.boolean(),
    next_run_date: z.string().nullable().describe('null while it is not enabled, and when no tick is left'),
    created_at: z.string(),
    updated_at: z.string(),
    status: z
      .enum(['active', 'paused', 'stopped'])
      .describe('`stopped`: its thread or assistant was deleted, or its end time has passed'),
    status_reason: z.string().nullable(),
    catchup: z.enum(CATCHUP_RULES),
    overlap: z.enum(OVERLAP_RULES),
    last_run: cronRunSchema.nullable(),
    consecutive_failures: z.number().int(),
    last_failure: z
      .object({ run_id: z.guid().nullable(), scheduled_at: z.string(), failed_at: z.string(), error: z.string() })
      .nullable(),
  })
  .meta({ id: 'Cron' });
export type Cron = z.infer<typeof cronSchema>;

/** `now` is in the clients' list of fields and is no field of a cron: it selects nothing. */
const selectable = z.enum([...(Object.keys(cronSchema.shape) as (keyof Cron)[]), 'now']);

export const searchCronsSchema = z.object({
  ...cronFilter,
  ...pageSchema,
  sort_by: z
    .enum(['cron_id', 'assistant_id', 'thread_id', 'next_run_date', 'end_time', 'created_at', 'updated_at'])
    .default('created_at'),
  sort_order: z.enum(['asc', 'desc']).default('desc'),
  select: z.array(selectable).optional(),
});
export type SearchCrons = z.infer<typeof searchCronsSchema>;

export const pauseCronSchema = z.object({ reason: z.string().min(1).max(1_000).optional() });
export type PauseCron = z.infer<typeof pauseCronSchema>;

export const backfillSchema = z.object({
  start: moment.describe('The first moment of the range'),
  end: moment.describe('The last moment of the range, itself included'),
});
export type Backfill = z.infer<typeof backfillSchema>;

export const backfilledSchema = z
  .object({
    cron_id: z.guid(),
    ticks: z.number().int().describe('Ticks in the range'),
    already_fired: z.number().int().describe('Ticks among these that had been handled before and are skipped'),
    runs: z.array(cronRunSchema),
  })
  .meta({ id: 'CronBackfill' });
export type Backfilled = z.infer<typeof backfilledSchema>;

export const cronRunsQuery = z.object({
  limit: queryInteger({ min: 1, max: 1000, default: 10 }),
  offset: queryInteger({ min: 0, default: 0 }),
});
export type CronRunsQuery = z.infer<typeof cronRunsQuery>;
