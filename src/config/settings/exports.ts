import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { httpUrl, list, positiveInt, type Values, yearsLimit } from '../variables';

export const exportVariables = {
  GANTRY_EXPORT_CONCURRENCY: positiveInt.default(3).describe('exports of a tenant that run at once; others wait'),
  GANTRY_EXPORT_PARTITION_CONCURRENCY: positiveInt.default(2).describe('days of an export that are written at once'),
  GANTRY_EXPORT_PARTITIONS_PER_WORKER: positiveInt
    .default(2)
    .describe('days that a worker writes at once; each holds a file in memory'),
  GANTRY_EXPORT_PART_ROWS: positiveInt.default(50_000).describe('rows after which a Parquet file ends'),
  GANTRY_EXPORT_PART_BYTES: positiveInt
    .default(32 * 1024 * 1024)
    .meta({ description: 'bytes of text after which a Parquet file ends', shownDefault: '32 MiB' }),
  GANTRY_EXPORT_TIMEOUT_SECONDS: positiveInt
    .max(...yearsLimit(31_536_000))
    .default(86_400)
    .describe('time limit of an export, from its turn on; after it the export is `TimedOut`'),
  GANTRY_EXPORT_LATE_PASS_HOURS: z.coerce
    .number()
    .positive()
    .max(8_760)
    .default(24)
    .describe("time between a window's export and its second pass, for schedules with `late_data: reexport`"),
  GANTRY_EXPORT_ALLOW_CIDRS: list
    .refine((networks) => networks.every((each) => ipaddr.isValidCIDR(each)), {
      message: 'must be networks such as 10.0.0.0/8, separated by commas',
    })
    .meta({
      description:
        'internal networks that stores may be in, separated by commas; the store of `GANTRY_S3_ENDPOINT` is always allowed',
      shownDefault: 'none (`npm start`: loopback)',
    }),
  GANTRY_EXPORT_AMBIENT_BUCKETS: list.meta({
    description:
      "buckets (Google's: `gs://name`), separated by commas, written to with the server's own credentials where none are given",
    shownDefault: 'none',
  }),
  GANTRY_EXPORT_AMBIENT_ROLES: list
    .refine((roles) => roles.every((role) => /^arn:aws[a-z-]*:iam::\d{12}:role\/[^*]*\*?$/.test(role)), {
      message: 'must be ARNs of roles, or beginnings that end in *, such as arn:aws:iam::123456789012:role/exports-*',
    })
    .meta({
      description:
        'roles, separated by commas, that the server assumes with its own identity; `*` at the end stands for any rest',
      shownDefault: 'none',
    }),
  GANTRY_EXPORT_STS_ENDPOINT: httpUrl.optional().meta({
    description: 'token service for these roles, if the policy for stores allows its address',
    shownDefault: "AWS's, by region",
  }),
};

export interface ExportSettings {
  /** Exports of one tenant that run at once. */
  concurrency: number;
  /** Days of one export that are written at once. */
  partitionConcurrency: number;
  /** Days that one worker writes at once: each holds a part in memory. */
  partitionsPerWorker: number;
  /** A Parquet file ends after so many rows, or so many bytes of text, whichever is first. */
  partRows: number;
  partBytes: number;
  timeoutMs: number;
  /** Time between the end of a window's export and its later pass. */
  latePassSeconds: number;
  /** Internal networks in which the stores of destinations may be. */
  allowCidrs: string[];
  /** The deployment's own store, which destinations may name wherever it is. */
  ownEndpoint: string | undefined;
  /** Buckets that are written to with the process's own credentials where a destination has none. */
  ambientBuckets: string[];
  /** ARNs, or beginnings that end in `*`. */
  ambientRoles: string[];
  stsEndpoint: string | undefined;
}

/** @param ownEndpoint of the deployment's own store */
export const exportSettings = (
  env: Values<typeof exportVariables>,
  ownEndpoint: string | undefined,
): ExportSettings => ({
  concurrency: env.GANTRY_EXPORT_CONCURRENCY,
  partitionConcurrency: env.GANTRY_EXPORT_PARTITION_CONCURRENCY,
  partitionsPerWorker: env.GANTRY_EXPORT_PARTITIONS_PER_WORKER,
  partRows: env.GANTRY_EXPORT_PART_ROWS,
  partBytes: env.GANTRY_EXPORT_PART_BYTES,
  timeoutMs: env.GANTRY_EXPORT_TIMEOUT_SECONDS * 1000,
  latePassSeconds: env.GANTRY_EXPORT_LATE_PASS_HOURS * 3_600,
  allowCidrs: env.GANTRY_EXPORT_ALLOW_CIDRS,
  ownEndpoint,
  ambientBuckets: env.GANTRY_EXPORT_AMBIENT_BUCKETS,
  ambientRoles: env.GANTRY_EXPORT_AMBIENT_ROLES,
  stsEndpoint: env.GANTRY_EXPORT_STS_ENDPOINT,
});
