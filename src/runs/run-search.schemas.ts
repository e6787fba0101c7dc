import { z } from 'zod';
import { RUN_STATUSES } from '../database/run-status';
import { uuid } from '../http/uuid';
import { jsonObject } from '../runnable-config/runnable-config.schemas';

const time = z.iso.datetime({ offset: true });

const runFilter = {
  run_id: uuid.optional(),
  status: z.array(z.enum(RUN_STATUSES)).min(1).optional(),
  assistant_id: uuid.optional(),
  graph_id: z.string().min(1).optional(),
  thread_id: uuid.optional(),
  metadata: jsonObject.optional().describe("What a run's metadata has to contain"),
  error: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('Text that the message of its error has to contain, in any case'),
  created_after: time.optional(),
  created_before: time.optional(),
};

export const searchRunsSchema = z.object({
  ...runFilter,
  before: uuid.optional().describe('Id of the last run of the previous page: the list continues after it'),
  limit: z.number().int().min(1).max(1000).default(100),
});
export type SearchRuns = z.infer<typeof searchRunsSchema>;

export const countRunsSchema = z.object(runFilter);
export type RunFilter = z.infer<typeof countRunsSchema>;

/** A run without its input and configuration, with what its execution was like. */
export const foundRunSchema = z
  .object({
    run_id: z.guid(),
    thread_id: z.guid(),
    assistant_id: z.guid(),
    graph_id: z.string(),
    status: z.enum(RUN_STATUSES),
    created_at: z.string(),
    started_at: z.string().nullable().describe('When its first attempt began'),
    ended_at: z.string().nullable(),
    attempts: z.number().int().describe('Number of its attempts'),
    error: z.object({ error: z.string(), message: z.string() }).nullable(),
    cancel_reason: z.string().nullable(),
    metadata: jsonObject,
  })
  .meta({ id: 'FoundRun' });
export type FoundRun = z.infer<typeof foundRunSchema>;

export const runStatsSchema = z.object({
  hours: z.number().min(0.25).max(168).default(24).describe('How far the statistics reach back'),
  buckets: z.number().int().min(1).max(200).default(48),
  assistant_id: uuid.optional(),
});
export type AskRunStats = z.infer<typeof runStatsSchema>;

const count = z.number().int();
const milliseconds = z.number().nullable();

export const runStatsAnswer = z
  .object({
    pending: count.describe('Runs that wait now'),
    running: count,
    oldest_pending_at: z.string().nullable(),
    bucket_seconds: z.number(),
    buckets: z.array(
      z.object({
        at: z.string().describe('When the bucket begins'),
        created: count,
        success: count,
        error: count.describe('Errors and timeouts'),
        interrupted: count,
        wait_ms_p50: milliseconds.describe('From creation to the first attempt'),
        wait_ms_p95: milliseconds,
        duration_ms_p50: milliseconds.describe('From creation to the end'),
        duration_ms_p95: milliseconds,
      }),
    ),
  })
  .meta({ id: 'RunStats' });
export type RunStats = z.infer<typeof runStatsAnswer>;
