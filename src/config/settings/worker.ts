import { z } from 'zod';
import { isSocketAddress, list, port, positiveInt, type Values, waitLimit } from '../variables';

/** The kinds of work that a worker can be set to; each has task queues of its own. */
export const WORKER_QUEUES = ['runs', 'exports', 'webhooks', 'crons'] as const;
export type WorkerQueue = (typeof WORKER_QUEUES)[number];

export const workerVariables = {
  GANTRY_WORKER_QUEUES: list
    .pipe(z.array(z.enum(WORKER_QUEUES)))
    .transform((queues) => (queues.length > 0 ? queues : [...WORKER_QUEUES]))
    .describe('the kinds of work that a worker does ([scaling](#scaling))'),
  GANTRY_RUNS_PER_WORKER: positiveInt.default(400).describe('runs that a worker executes at once'),
  GANTRY_WORKER_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe(
      "address of a worker's listener (metrics, health); only loopback is allowed without `GANTRY_METRICS_TOKEN`",
    ),
  GANTRY_WORKER_PORT: z
    .union([z.literal('off').transform(() => undefined), port])
    .default(2025)
    .describe("port of a worker's listener (a free one if it is taken); `off`: no listener"),
  GANTRY_TEMPORAL_METRICS: z
    .string()
    .refine(isSocketAddress, 'must be an IP address with a port, such as 127.0.0.1:9464 or [::1]:9464')
    .optional()
    .describe("IP address with a port, `127.0.0.1:9464`, where a worker shows the metrics of Temporal's SDK"),
  GANTRY_WORKER_DEPLOYMENT: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, 'must be up to 100 letters, digits, dashes, underscores')
    .optional()
    .describe('name of a Worker Deployment: workers are versioned ([upgrading](#upgrading))'),
  GANTRY_HEARTBEAT_TIMEOUT_SECONDS: z.coerce
    .number()
    .int()
    .min(2)
    .max(...waitLimit)
    .default(10)
    .describe('a worker without a heartbeat for this long loses its runs and partitions'),
  GANTRY_WORKFLOW_AFTER_SECONDS: z.coerce
    .number()
    .min(0)
    .max(60)
    .default(10)
    .describe('a run that takes longer gets a Temporal workflow; 0: each run ([short runs](decisions/short-runs.md))'),
  GANTRY_SHUTDOWN_GRACE_SECONDS: positiveInt
    .max(...waitLimit)
    .default(15)
    .describe('time for activities to end after a worker was asked to stop'),
  GANTRY_HAND_BACK_AFTER_SECONDS: z.coerce
    .number()
    .min(0)
    .max(...waitLimit)
    .default(0)
    .describe('how long the runs of a worker that was asked to stop may continue before it hands them back'),
  GANTRY_SWEEP_INTERVAL_SECONDS: positiveInt
    .max(...waitLimit)
    .default(5)
    .describe('how often work without a workflow is looked for'),
};

/** The worker process. */
export interface WorkerSettings {
  /** The kinds of work that it does. */
  queues: readonly WorkerQueue[];
  /** Runs that it executes at once. */
  runs: number;
  /** Where it answers for its metrics and its health; undefined: nowhere. */
  listener: { host: string; port: number } | undefined;
  /** Where Temporal's SDK answers for its own metrics; undefined: nowhere. */
  temporalMetrics: string | undefined;
  /** Name of the Worker Deployment of Temporal whose versions the workers are; undefined: they are not versioned. */
  deployment: string | undefined;
  /** A worker that is silent for this long has lost its runs and partitions. */
  heartbeatTimeoutMs: number;
  /** A run that takes longer gets a workflow. */
  workflowAfterMs: number;
  /** Time for the activities of a worker that was asked to stop. */
  shutdownGraceMs: number;
  /** How long the runs of a worker that was asked to stop may continue, before it hands them back. */
  handBackAfterMs: number;
  /** Between two searches for work without a workflow. */
  sweepIntervalMs: number;
}

export function workerSettings(env: Values<typeof workerVariables>): WorkerSettings {
  const { GANTRY_WORKER_HOST: host, GANTRY_WORKER_PORT: port } = env;
  return {
    queues: env.GANTRY_WORKER_QUEUES,
    runs: env.GANTRY_RUNS_PER_WORKER,
    listener: port === undefined ? undefined : { host, port },
    temporalMetrics: env.GANTRY_TEMPORAL_METRICS,
    deployment: env.GANTRY_WORKER_DEPLOYMENT,
    heartbeatTimeoutMs: env.GANTRY_HEARTBEAT_TIMEOUT_SECONDS * 1000,
    workflowAfterMs: env.GANTRY_WORKFLOW_AFTER_SECONDS * 1000,
    shutdownGraceMs: env.GANTRY_SHUTDOWN_GRACE_SECONDS * 1000,
    handBackAfterMs: env.GANTRY_HAND_BACK_AFTER_SECONDS * 1000,
    sweepIntervalMs: env.GANTRY_SWEEP_INTERVAL_SECONDS * 1000,
  };
}
