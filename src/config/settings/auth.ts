import { z } from 'zod';
import { accessKey, flag, seconds, type Values } from '../variables';

export const authVariables = {
  GANTRY_AUTH: flag
    .default(false)
    .describe(
      'on: every request but `/ok`, `/info` and the docs needs `X-API-Key`; bulk exports need `X-Tenant-Id` as well',
    ),
  GANTRY_API_KEY: accessKey.optional().describe('a key that the api registers at its start, 16 characters or more'),
  GANTRY_TENANT_ID: z
    .guid()
    .default('00000000-0000-0000-0000-000000000000')
    .meta({ description: 'tenant of `GANTRY_API_KEY`, and of everything with auth off', shownDefault: '`00000000-…`' }),
  GANTRY_INTERNAL_KEY: accessKey
    .optional()
    .describe('key with which workers of earlier releases upload traces; those of this one have a key for each run'),
  GANTRY_ADMIN_KEY: accessKey
    .optional()
    .describe("the operator's key for the admin API (tenants, keys); absent: that API is off"),
  GANTRY_RATE_LIMIT_PER_SECOND: seconds
    .optional()
    .describe(
      'limit of requests for one key or user, on each replica; absent: no limit ([limits](auth.md#rate-limits))',
    ),
  GANTRY_TRACE_RATE_LIMIT_PER_SECOND: seconds
    .optional()
    .describe('separate limit for uploads of traces of one key; absent: no limit'),
};

/** Settings of access to the API, and of its rate limits. */
export interface AuthSettings {
  isEnabled: boolean;
  /** A key that the api registers at its start. */
  apiKey: string | undefined;
  /** Tenant of that key, and of everything with authentication off. */
  defaultTenantId: string;
  /** Uploads the traces of any tenant's runs, and nothing else. Workers of this release have keys of their own for it. */
  internalKey: string | undefined;
  /** The operator's key for the admin API; undefined switches that API off. */
  adminKey: string | undefined;
  /** Requests per second of one key or user, in the long run; undefined: as many as it likes. */
  rateLimits: { api: number | undefined; traces: number | undefined };
}

export const authSettings = (env: Values<typeof authVariables>): AuthSettings => ({
  isEnabled: env.GANTRY_AUTH,
  apiKey: env.GANTRY_API_KEY,
  defaultTenantId: env.GANTRY_TENANT_ID,
  internalKey: env.GANTRY_INTERNAL_KEY,
  adminKey: env.GANTRY_ADMIN_KEY,
  rateLimits: { api: env.GANTRY_RATE_LIMIT_PER_SECOND, traces: env.GANTRY_TRACE_RATE_LIMIT_PER_SECOND },
});
