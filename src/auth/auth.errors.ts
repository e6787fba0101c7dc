import { ApiError } from '../http/api-error';
import type { Entitlement } from './entitlements';

const FEATURES: Record<Entitlement, string> = { crons: 'Crons', bulk_export: 'Bulk export' };

/** Header that HTTP requires of a 401, and that A2A clients read: how to authenticate. */
const CHALLENGE = { headers: { 'WWW-Authenticate': 'ApiKey realm="gantry", header="X-API-Key"' } };

export const authErrors = {
  missingKey: () =>
    new ApiError(401, 'missing_api_key', 'Missing authentication: send an API key as X-API-Key', CHALLENGE),
  docsNeedKey: () =>
    new ApiError(401, 'docs_protected', 'Missing authentication: send an API key as X-API-Key, or as the password', {
      headers: {
        'WWW-Authenticate': 'Basic realm="gantry: any name, and an API key as the password", charset="UTF-8"',
      },
    }),
  unknownKey: () => new ApiError(401, 'invalid_api_key', 'Invalid API key', CHALLENGE),
  invalidToken: (isExpired: boolean) =>
    new ApiError(
      401,
      'invalid_token',
      isExpired ? 'The access token has expired' : 'The access token is not valid for this server',
      CHALLENGE,
    ),
  missingScope: (scopes: string[]) =>
    new ApiError(403, 'insufficient_scope', `The access token lacks the scope ${scopes.join(' ')}`),
  noTenantClaim: (claim: string) =>
    new ApiError(
      403,
      'wrong_tenant',
      `The access token names no workspace of this deployment: its claim ${claim} is to`,
    ),
  issuerUnavailable: () =>
    new ApiError(503, 'issuer_unavailable', 'Access tokens cannot be checked: their issuer does not answer', {
      headers: { 'Retry-After': '5' },
    }),
  noOAuth: () =>
    new ApiError(404, 'oauth_off', 'Access tokens are not accepted here: the operator names no GANTRY_OAUTH_ISSUER', {
      format: 'text',
    }),
  missingTenant: () =>
    new ApiError(
      401,
      'missing_tenant',
      'Missing authentication: send the workspace id as X-Tenant-Id beside X-API-Key',
      CHALLENGE,
    ),
  otherTenant: () =>
    new ApiError(403, 'wrong_tenant', 'X-Tenant-Id names a workspace that this request has no access to'),
  tooManyRequests: (seconds: number) =>
    new ApiError(429, 'rate_limited', `Too many requests: try again in ${seconds} s`, {
      headers: { 'Retry-After': String(seconds) },
    }),
  operatorOnly: () =>
    new ApiError(403, 'operator_only', "This route takes the operator's key (GANTRY_ADMIN_KEY), not a workspace's"),
  adminOff: () =>
    new ApiError(403, 'admin_off', 'The admin API is off: the operator switches it on with GANTRY_ADMIN_KEY'),
  notEntitled: (entitlement: Entitlement) =>
    new ApiError(
      403,
      'not_entitled',
      `${FEATURES[entitlement]} (${entitlement}) belongs to a higher plan than this workspace has; the operator of this deployment can switch it on`,
    ),
};

export const adminErrors = {
  tenantNotFound: () => new ApiError(404, 'tenant_not_found', 'Tenant not found', { format: 'text' }),
  tenantExists: (name: string) => new ApiError(409, 'tenant_exists', `There is a tenant with this id or name: ${name}`),
  keyNotFound: () => new ApiError(404, 'key_not_found', 'API key not found', { format: 'text' }),
  expiryInPast: () => new ApiError(422, 'invalid_request', 'expires_at: must be in the future'),
};
