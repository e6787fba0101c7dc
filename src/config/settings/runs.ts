import { positiveInt, type Values, yearsLimit } from '../variables';

/** Run ids begin with the milliseconds since 1970, which the oldest event that is kept must not precede. */
const MAX_EVENT_YEARS = 50;

export const runVariables = {
  GANTRY_RUN_TIMEOUT_SECONDS: positiveInt
    .max(...yearsLimit(31_536_000))
    .default(86_400)
    .describe('time limit of a run, including the wait for a worker; after it the run ends as `timeout`'),
  GANTRY_RUN_LOST_ATTEMPTS: positiveInt
    .default(10)
    .describe(
      'a run that ends a host of its own this often after one checkpoint ends as `error` instead of killing another',
    ),
  GANTRY_PENDING_RUNS_PER_TENANT: positiveInt
    .default(10_000)
    .describe("maximum of a tenant's waiting runs, including those with a delay; more get a 429 with `Retry-After`"),
  GANTRY_RUN_BATCH_LIMIT: positiveInt
    .default(1_000)
    .describe('maximum of runs in one `POST /runs/batch`; more get a 422'),
  GANTRY_EVENT_RETENTION_HOURS: positiveInt
    .max(...yearsLimit(8_760, MAX_EVENT_YEARS))
    .default(72)
    .describe('how long the events of a run can be replayed'),
  GANTRY_CRON_HISTORY_DAYS: positiveInt
    .max(...yearsLimit(365))
    .default(30)
    .describe("how long the results of a cron's ticks are kept"),
};

export interface RunSettings {
  /** A whole run, waiting for a worker included. */
  timeoutMs: number;
  /** A run whose worker is lost so often after one checkpoint is what kills it. */
  lostAttempts: number;
  /** Runs of a tenant that may wait. */
  pendingPerTenant: number;
  /** Runs of one request. */
  batchLimit: number;
  /** How long the events of a run can be replayed. */
  eventRetentionMs: number;
}

export interface CronSettings {
  /** How long a cron remembers what its ticks became. */
  historyMs: number;
}

export const runSettings = (env: Values<typeof runVariables>): RunSettings => ({
  timeoutMs: env.GANTRY_RUN_TIMEOUT_SECONDS * 1000,
  lostAttempts: env.GANTRY_RUN_LOST_ATTEMPTS,
  pendingPerTenant: env.GANTRY_PENDING_RUNS_PER_TENANT,
  batchLimit: env.GANTRY_RUN_BATCH_LIMIT,
  eventRetentionMs: env.GANTRY_EVENT_RETENTION_HOURS * 3_600_000,
});

export const cronSettings = (env: Values<typeof runVariables>): CronSettings => ({
  historyMs: env.GANTRY_CRON_HISTORY_DAYS * 86_400_000,
});
