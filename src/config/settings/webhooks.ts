import { z } from 'zod';
import { list, positiveInt, seconds, type Values, yearsLimit } from '../variables';

export const webhookVariables = {
  GANTRY_WEBHOOK_ALLOW_CIDRS: list.meta({
    description: 'internal networks that webhooks may be sent to, separated by commas',
    shownDefault: 'none (`npm start`: loopback)',
  }),
  GANTRY_WEBHOOK_SECRETS: list
    .refine((secrets) => secrets.every((secret) => secret.startsWith('whsec_')), {
      message: 'each secret must start with whsec_ (Standard Webhooks), several are separated by commas',
    })
    .describe('`whsec_…` secrets that sign webhooks, separated by commas'),
  GANTRY_WEBHOOK_CONNECT_TIMEOUT_SECONDS: seconds
    .max(30)
    .default(5)
    .describe('time for a receiver to accept the connection; at most 30'),
  GANTRY_WEBHOOK_TIMEOUT_SECONDS: seconds.max(60).default(15).describe('time limit of an attempt; at most 60'),
  GANTRY_WEBHOOK_RETRY_SECONDS: z
    .string()
    .default('1,3,10,60,300,1800,7200,18000,28800,36000')
    .transform((value) => value.split(',').map((delay) => Number(delay.trim())))
    .refine((delays) => delays.length <= 50 && delays.every((delay) => delay > 0 && delay <= 604_800), {
      message: 'must be up to 50 delays in seconds, separated by commas, each above 0 and at most a week',
    })
    .describe('waits before the second and later attempts'),
  GANTRY_WEBHOOK_CONCURRENCY: positiveInt.default(500).describe('attempts at once in a worker'),
  GANTRY_WEBHOOK_CONCURRENCY_PER_HOST: positiveInt.default(8).describe('attempts at once to one host from one tenant'),
  GANTRY_WEBHOOK_RESPONSE_BYTES: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_536)
    .default(1_024)
    .describe('bytes of each answer that are kept in the log'),
  GANTRY_WEBHOOK_RETENTION_HOURS: positiveInt
    .max(...yearsLimit(8_760))
    .default(720)
    .describe('how long ended deliveries are kept'),
};

/** The process's side of webhooks; langgraph.json has the deployment's (webhook.config.ts). */
export interface WebhookProcessSettings {
  /** Internal networks that webhooks may be sent to. */
  allowCidrs: string[];
  /** The first one signs alone until a second is added: during a rotation both sign. */
  secrets: string[];
  delivery: WebhookDeliverySettings;
}

export interface WebhookDeliverySettings {
  connectTimeoutMs: number;
  /** A whole attempt, from the name's resolution to the answer's status. */
  timeoutMs: number;
  /** The wait before each attempt after the first. */
  retryDelaysMs: number[];
  /** Attempts at once in a worker, and of those to one host. */
  concurrency: number;
  concurrencyPerHost: number;
  /** How much of an answer is kept in the log; 0 keeps none. */
  responseBytes: number;
  retentionMs: number;
}

export const webhookSettings = (env: Values<typeof webhookVariables>): WebhookProcessSettings => ({
  allowCidrs: env.GANTRY_WEBHOOK_ALLOW_CIDRS,
  secrets: env.GANTRY_WEBHOOK_SECRETS,
  delivery: {
    connectTimeoutMs: env.GANTRY_WEBHOOK_CONNECT_TIMEOUT_SECONDS * 1000,
    timeoutMs: env.GANTRY_WEBHOOK_TIMEOUT_SECONDS * 1000,
    retryDelaysMs: env.GANTRY_WEBHOOK_RETRY_SECONDS.map((delay) => delay * 1000),
    concurrency: env.GANTRY_WEBHOOK_CONCURRENCY,
    concurrencyPerHost: env.GANTRY_WEBHOOK_CONCURRENCY_PER_HOST,
    responseBytes: env.GANTRY_WEBHOOK_RESPONSE_BYTES,
    retentionMs: env.GANTRY_WEBHOOK_RETENTION_HOURS * 3_600_000,
  },
});
