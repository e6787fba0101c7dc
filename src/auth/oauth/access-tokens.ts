import { Injectable, Logger } from '@nestjs/common';
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { AppConfig } from '../../config/config';
import type { OAuthSettings } from '../../config/settings/auth';
import { acrossTenants } from '../../database/request-scope';
import { ApiError } from '../../http/api-error';
import { authErrors } from '../auth.errors';
import type { TenantId } from '../tenant';
import { TenantsService } from '../tenants.service';

/** Signatures of key pairs: a provider's public keys must not serve as shared secrets. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const REQUEST_TIMEOUT_MS = 5_000;
/** Time after a failed request to the provider in which it gets no other one. */
const RETRY_AFTER_MS = 2_000;
const CLOCK_TOLERANCE_SECONDS = 30;
/** How long it is remembered which tenant a claim names. */
const TENANT_CACHE_MS = 5_000;
const CACHE_ENTRIES = 10_000;

const WELL_KNOWN = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'];

export interface TokenOwner {
  tenantId: TenantId;
  /** Subject of the token. */
  user: string;
  /** End of the token's access, in milliseconds since 1970. */
  expiresAt: number;
}

/** Access tokens of the operator's OpenID provider: whose they are, by signatures that are checked here. */
@Injectable()
export class AccessTokens {
  private readonly logger = new Logger('Auth');
  private readonly settings: OAuthSettings | undefined;
  private keys: Promise<JWTVerifyGetKey> | undefined;
  private retryAt = 0;
  private readonly tenantsByClaim = new Map<string, { tenantId: TenantId | undefined; until: number }>();

  constructor(
    private readonly config: AppConfig,
    private readonly tenants: TenantsService,
  ) {
    this.settings = config.auth.oauth;
  }

  get isOffered(): boolean {
    return this.settings !== undefined;
  }

  /**
   * @throws {ApiError} 401 for a token that isn't valid here, 403 for one that lacks a scope or names no tenant, 503 when the
   *   provider's keys can't be had
   */
  async ownerOf(token: string): Promise<TokenOwner> {
    const settings = this.settings;
    if (!settings) throw authErrors.missingKey();
    const payload = await this.verify(token, settings);
    const granted = typeof payload.scope === 'string' ? payload.scope.split(' ') : [];
    const missing = settings.scopes.filter((scope) => !granted.includes(scope));
    if (missing.length > 0) throw authErrors.missingScope(missing);
    return {
      tenantId: await this.tenantOf(payload, settings),
      user: payload.sub!,
      expiresAt: (payload.exp! + CLOCK_TOLERANCE_SECONDS) * 1_000,
    };
  }

  private async verify(token: string, { issuer, audiences }: OAuthSettings): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, await this.keysOf(), {
        issuer,
        audience: audiences,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        requiredClaims: ['exp', 'sub'],
      });
      return payload;
    } catch (error) {
      if (isOfToken(error)) throw authErrors.invalidToken(error instanceof errors.JWTExpired);
      if (error instanceof ApiError) throw error;
      this.logger.error({ err: error, issuer }, 'The keys of the OAuth issuer could not be fetched');
      throw authErrors.issuerUnavailable();
    }
  }

  /** The provider's keys, which the library fetches again when a token names one that it doesn't know. */
  private keysOf(): Promise<JWTVerifyGetKey> {
    const asked = this.keys ?? this.discover();
    this.keys = asked;
    // The next request asks again.
    asked.catch(() => (this.keys = undefined));
    return asked;
  }

  private async discover(): Promise<JWTVerifyGetKey> {
    const { issuer, jwksUrl } = this.settings!;
    const ask = (url: string, init: RequestInit): Promise<Response> => this.askProvider(url, init);
    const url = jwksUrl ?? (await jwksUrlOf(issuer, ask));
    return createRemoteJWKSet(new URL(url), { timeoutDuration: REQUEST_TIMEOUT_MS, [customFetch]: ask });
  }

  /**
   * Any caller can send tokens whose keys have to be fetched: a provider in trouble must not get a request for each of them. Tokens
   * with known keys are not affected.
   */
  private async askProvider(url: string, init: RequestInit): Promise<Response> {
    if (Date.now() < this.retryAt) throw new Error('The OAuth issuer failed a moment ago and is asked again later');
    try {
      const response = await fetch(url, init);
      if (response.status >= 500) throw new Error(`${url} answered ${response.status}`);
      return response;
    } catch (error) {
      this.retryAt = Date.now() + RETRY_AFTER_MS;
      throw error;
    }
  }

  /** The tenant that the claim names by id or name; the default one where no claim is to name any. */
  private async tenantOf(payload: JWTPayload, { tenantClaim }: OAuthSettings): Promise<TenantId> {
    if (tenantClaim === undefined) return this.config.auth.defaultTenantId.toLowerCase() as TenantId;
    const named = payload[tenantClaim];
    if (typeof named !== 'string' || named === '') throw authErrors.noTenantClaim(tenantClaim);
    const known = this.tenantsByClaim.get(named);
    const tenantId = known && known.until > Date.now() ? known.tenantId : await this.findTenant(named);
    if (!tenantId) throw authErrors.noTenantClaim(tenantClaim);
    return tenantId;
  }

  private async findTenant(named: string): Promise<TenantId | undefined> {
    const found = await acrossTenants(() => this.tenants.byIdOrName(named)).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    });
    if (this.tenantsByClaim.size >= CACHE_ENTRIES) this.tenantsByClaim.clear();
    const tenantId = found?.tenantId.toLowerCase() as TenantId | undefined;
    this.tenantsByClaim.set(named, { tenantId, until: Date.now() + TENANT_CACHE_MS });
    return tenantId;
  }
}

/** Where the provider says that its keys are, as OpenID Connect or OAuth (RFC 8414) has it. */
async function jwksUrlOf(issuer: string, ask: (url: string, init: RequestInit) => Promise<Response>): Promise<string> {
  for (const path of WELL_KNOWN) {
    const response = await ask(`${issuer.replace(/\/$/, '')}${path}`, {
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!response.ok) continue;
    const metadata = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
    if (metadata.issuer !== issuer) throw new Error(`${issuer} says that its issuer is ${String(metadata.issuer)}`);
    const { jwks_uri: keys } = metadata;
    if (typeof keys !== 'string' || !URL.canParse(keys)) throw new Error(`${issuer} names no jwks_uri`);
    // The operator chose the issuer alone: a place without TLS would decide about access as well.
    const { protocol, origin } = new URL(keys);
    if (protocol !== 'https:' && origin !== new URL(issuer).origin) throw new Error(`${issuer} names keys without TLS`);
    return keys;
  }
  throw new Error(`${issuer} has no metadata under ${WELL_KNOWN.join(' or ')}`);
}

/** Whether it is the token that is wrong, and not the provider that can't be reached. */
function isOfToken(error: unknown): boolean {
  return (
    error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid)
  );
}
