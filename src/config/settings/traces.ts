import { z } from 'zod';
import { flag, httpUrl, positiveInt, type Values, yearsLimit } from '../variables';

export const traceVariables = {
  GANTRY_TRACING: flag.optional().meta({
    description: "trace the server's own runs into a project per graph; traces are not encrypted",
    shownDefault: '`on`; `off` with custom encryption',
  }),
  GANTRY_TRACE_SHARING: flag
    .default(true)
    .describe(
      'traces and threads can be shared by public links; off: none can be created, and existing ones answer 404',
    ),
  GANTRY_TRACE_LIMIT_BYTES: positiveInt.default(100 * 1024 * 1024).meta({
    description: 'largest trace upload, compressed or decompressed ([limits](auth.md#limits-of-a-request))',
    shownDefault: '100 MiB',
  }),
  GANTRY_TRACE_RETENTION_DAYS: positiveInt
    .max(...yearsLimit(365))
    .optional()
    .describe('days that traces are kept; absent: for ever'),
  GANTRY_S3_BUCKET: z.string().min(1).optional().meta({
    description:
      'bucket for attachments of traces, below `attachments/`; absent: they stay in Postgres ([traces](traces.md))',
    shownDefault: '`gantry` of the gateway that comes along',
  }),
  GANTRY_S3_ENDPOINT: httpUrl.optional().describe('endpoint of the bucket; absent: AWS'),
  GANTRY_S3_REGION: z.string().min(1).default('us-east-1').describe('region of the bucket'),
  GANTRY_S3_ACCESS_KEY_ID: z
    .string()
    .min(1)
    .optional()
    .describe(
      'key that may put, get and delete objects in the bucket; absent: credentials of the environment (profile, instance role)',
    ),
  GANTRY_S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('secret of `GANTRY_S3_ACCESS_KEY_ID`'),
};

export interface TraceSettings {
  /** Whether the server traces its own runs. */
  ownRuns: boolean;
  /** Whether traces are shared by public links. */
  sharing: boolean;
  /** The most that one trace upload may be once it is decompressed. */
  uploadLimitBytes: number;
  /** Days of traces that are kept; undefined keeps them all. */
  retentionDays: number | undefined;
  /** Where attachments of traces go; undefined: to Postgres. */
  objectStore: ObjectStoreSettings | undefined;
}

/** The deployment's own bucket. */
export interface ObjectStoreSettings {
  /** Undefined: AWS. */
  endpoint: string | undefined;
  bucket: string;
  region: string;
  /** Undefined: those that the environment has (profile, instance role). */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** Problems of the variables in combination. */
export function traceProblems(env: Values<typeof traceVariables>): string[] {
  const isHalf = (env.GANTRY_S3_ACCESS_KEY_ID === undefined) !== (env.GANTRY_S3_SECRET_ACCESS_KEY === undefined);
  return isHalf ? ['GANTRY_S3_ACCESS_KEY_ID and GANTRY_S3_SECRET_ACCESS_KEY go together'] : [];
}

/** @param isEncrypted whether langgraph.json names an encryption, which traces don't have */
export const traceSettings = (env: Values<typeof traceVariables>, isEncrypted: boolean): TraceSettings => ({
  ownRuns: env.GANTRY_TRACING ?? !isEncrypted,
  sharing: env.GANTRY_TRACE_SHARING,
  uploadLimitBytes: env.GANTRY_TRACE_LIMIT_BYTES,
  retentionDays: env.GANTRY_TRACE_RETENTION_DAYS,
  objectStore: objectStoreSettings(env),
});

function objectStoreSettings(env: Values<typeof traceVariables>): ObjectStoreSettings | undefined {
  const { GANTRY_S3_ACCESS_KEY_ID: accessKeyId, GANTRY_S3_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (env.GANTRY_S3_BUCKET === undefined) return undefined;
  return {
    endpoint: env.GANTRY_S3_ENDPOINT,
    bucket: env.GANTRY_S3_BUCKET,
    region: env.GANTRY_S3_REGION,
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
  };
}
