import { z } from 'zod';
import { accessKey, flag, isLoopback, list, seconds, type Values } from '../variables';

/** An address of the OpenID provider. What it answers decides who may come in: only this machine's may be without TLS. */
const providerUrl = z.url().refine((url) => /^https:/i.test(url) || isLoopbackUrl(url), {
  message: 'must begin with https://, unless it is on this machine',
});

function isLoopbackUrl(url: string): boolean {
  return /^http:/i.test(url) && isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''));
}

export const authVariables = {
  GANTRY_AUTH: flag
    .default(false)
    .describe(
      'on: requests need `X-API-Key` ([exceptions](auth.md#api-keys-and-tenants)); bulk exports need `X-Tenant-Id` as well',
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
  GANTRY_OAUTH_ISSUER: providerUrl
    .optional()
    .describe(
      'OpenID provider whose access tokens open the API, MCP and A2A ([OAuth](auth.md#oauth)); absent: no tokens',
    ),
  GANTRY_OAUTH_AUDIENCE: list.describe(
    'audiences, by commas, of which a token must have one, the first being the resource that clients learn to ask for; absent: `GANTRY_PUBLIC_URL` and that with `/mcp`',
  ),
  GANTRY_OAUTH_SCOPES: list.describe('scopes, by commas, that a token must have'),
  GANTRY_OAUTH_TENANT_CLAIM: z
    .string()
    .min(1)
    .optional()
    .describe(
      'claim that names the workspace of a token by its id or name; absent: all tokens are of `GANTRY_TENANT_ID`',
    ),
  GANTRY_OAUTH_JWKS_URL: providerUrl
    .optional()
    .describe("address of the provider's keys; absent: the one in its metadata"),
  GANTRY_A2A_PUBLIC_CARDS: flag
    .default(false)
    .describe('on: agent cards of `GANTRY_TENANT_ID` can be read without credentials'),
  GANTRY_RATE_LIMIT_PER_SECOND: seconds
    .optional()
    .describe(
      'limit of requests for one key or user, on each replica; absent: no limit ([limits](auth.md#rate-limits))',
    ),
  GANTRY_TRACE_RATE_LIMIT_PER_SECOND: seconds
    .optional()
    .describe('separate limit for uploads of traces of one key; absent: no limit'),
};

/** Access tokens of an OpenID provider. */
export interface OAuthSettings {
  issuer: string;
  /** A token must have one of them. */
  audiences: string[];
  /** Resource that clients learn to ask a token for; undefined: the address that they use. */
  resource: string | undefined;
  /** A token must have all of them. */
  scopes: string[];
  tenantClaim: string | undefined;
  jwksUrl: string | undefined;
  /** Where clients reach this server. */
  baseUrl: string;
}

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
  /** Undefined: tokens open nothing. */
  oauth: OAuthSettings | undefined;
  /** Whether agent cards of the default tenant can be read without credentials. */
  hasPublicCards: boolean;
  /** Requests per second of one key or user, in the long run; undefined: as many as it likes. */
  rateLimits: { api: number | undefined; traces: number | undefined };
}

export const authSettings = (env: Values<typeof authVariables>, baseUrl: string): AuthSettings => ({
  isEnabled: env.GANTRY_AUTH,
  apiKey: env.GANTRY_API_KEY,
  defaultTenantId: env.GANTRY_TENANT_ID,
  internalKey: env.GANTRY_INTERNAL_KEY,
  adminKey: env.GANTRY_ADMIN_KEY,
  oauth: oauthSettings(env, baseUrl),
  hasPublicCards: env.GANTRY_A2A_PUBLIC_CARDS,
  rateLimits: { api: env.GANTRY_RATE_LIMIT_PER_SECOND, traces: env.GANTRY_TRACE_RATE_LIMIT_PER_SECOND },
});

function oauthSettings(env: Values<typeof authVariables>, baseUrl: string): OAuthSettings | undefined {
  const { GANTRY_OAUTH_ISSUER: issuer, GANTRY_OAUTH_AUDIENCE: audiences } = env;
  if (issuer === undefined) return undefined;
  return {
    issuer,
    audiences: audiences.length > 0 ? audiences : [baseUrl, `${baseUrl}/mcp`],
    resource: audiences.at(0),
    scopes: env.GANTRY_OAUTH_SCOPES,
    tenantClaim: env.GANTRY_OAUTH_TENANT_CLAIM,
    jwksUrl: env.GANTRY_OAUTH_JWKS_URL,
    baseUrl,
  };
}
