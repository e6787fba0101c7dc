import { CanActivate, ExecutionContext, Injectable, OnModuleInit } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppConfig } from '../config/config';
import type { AuthUser } from '../database/request-scope';
import { type Actor, AddressKeeper } from './actor';
import { ApiKeysService } from './api-keys.service';
import { authErrors } from './auth.errors';
import { authRequestOf } from './custom/auth-request';
import { CustomAuth } from './custom/custom-auth';
import { type Entitlement, ENTITLEMENT } from './entitlements';
import { EntitlementsService } from './entitlements.service';
import { isSame } from '../crypto/is-same';
import { headerOf } from '../http/header';
import { isUuid } from '../http/uuid';
import { AccessTokens } from './oauth/access-tokens';
import { bearerTokenOf, withChallenge } from './oauth/challenge';
import { RateLimiter } from './rate-limiter';
import { RefusedLogins } from './refused-logins';
import { ACCESS, Access, CUSTOM_AUTH, TenantId } from './tenant';
import { TenantsService } from './tenants.service';
import { tenantOfTraceToken } from './trace-token';

interface Caller {
  /** Undefined for the operator, who is of no tenant. */
  tenantId: TenantId | undefined;
  actor: Actor;
  user?: AuthUser;
  accessEndsAt?: number;
}

/** Studio as a user for the handlers of a custom auth; `isStudioUser` of the public SDK recognises it. */
const STUDIO_USER: AuthUser = {
  kind: 'StudioUser',
  identity: 'langgraph-studio-user',
  display_name: 'langgraph-studio-user',
  is_authenticated: true,
  permissions: [],
};

/** The only place that determines a request's tenant: `X-API-Key` names it, and `X-Tenant-Id` must agree. */
@Injectable()
export class AuthGuard implements CanActivate, OnModuleInit {
  private readonly addresses: AddressKeeper;
  private readonly reflector = new Reflector();

  constructor(
    private readonly config: AppConfig,
    private readonly apiKeys: ApiKeysService,
    private readonly entitlements: EntitlementsService,
    private readonly customAuth: CustomAuth,
    private readonly tenants: TenantsService,
    private readonly rates: RateLimiter,
    private readonly refusedLogins: RefusedLogins,
    private readonly tokens: AccessTokens,
  ) {
    this.addresses = new AddressKeeper(config.audit.addresses, config.secrets.key);
  }

  onModuleInit(): Promise<void> {
    return this.customAuth.load();
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const declared = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, declared);
    if (access === 'public') return true;
    await this.identify(context);
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    await this.rates.take(request, http.getResponse<FastifyReply>(), access);
    const needed = this.reflector.getAllAndOverride<Entitlement | undefined>(ENTITLEMENT, declared);
    if (needed && request.tenantId) await this.entitlements.require(request.tenantId, needed);
    return true;
  }

  /** Finds out who makes a request, without counting it. @throws {ApiError} for a caller without access */
  async identify(context: ExecutionContext): Promise<void> {
    const declared = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, declared);
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const asksUsers =
      this.customAuth.source && this.reflector.getAllAndOverride<boolean | undefined>(CUSTOM_AUTH, declared);
    const address = this.addresses.keep(request.ip);
    const { oauth } = this.config.auth;
    const { tenantId, actor, user, accessEndsAt } = await (
      asksUsers ? this.ofUser(request, access) : this.resolve(request, access)
    ).catch((error: unknown) => {
      this.refusedLogins.note(address, error);
      throw oauth ? withChallenge(error, request, oauth) : error;
    });
    request.tenantId = tenantId;
    if (user) request.user = user;
    if (accessEndsAt !== undefined) request.accessEndsAt = accessEndsAt;
    request.actor = { ...actor, ...(address !== undefined && { address }) };
  }

  private async resolve(request: FastifyRequest, access: Access | undefined): Promise<Caller> {
    const asked = headerOf(request, 'x-tenant-id')?.toLowerCase();
    const key = headerOf(request, 'x-api-key');
    if (access === 'operator') return this.operator(key);
    const uploader = access === 'trace-upload' && key !== undefined ? this.uploaderOf(key, asked) : undefined;
    if (uploader) return { tenantId: uploader, actor: { kind: 'internal' } };
    // Routes that a custom auth doesn't decide about must not be open beside those that it protects.
    if (!this.config.auth.isEnabled && !this.customAuth.source) {
      const only = this.config.auth.defaultTenantId.toLowerCase() as TenantId;
      if (asked !== undefined && asked !== only) throw authErrors.otherTenant();
      return { tenantId: only, actor: { kind: 'none' } };
    }
    const token = key === undefined ? bearerTokenOf(request) : undefined;
    const isNamed = access !== 'tenant-header' || asked !== undefined;
    if (token !== undefined && this.tokens.isOffered) {
      if (!isNamed) throw authErrors.missingTenant();
      return this.ofToken(token, asked);
    }
    if (key === undefined && this.isOpenCard(request, access)) return this.anonymous();
    if (key === undefined) throw authErrors.missingKey();
    if (!isNamed) throw authErrors.missingTenant();
    const owner = await this.apiKeys.ownerOf(key);
    // The rights of a user are decided by the custom auth, which isn't called here.
    if (!owner || owner.user) throw authErrors.unknownKey();
    if (asked !== undefined && asked !== owner.tenantId) throw authErrors.otherTenant();
    const { tenantId, apiKeyId } = owner;
    return { tenantId, actor: actorOf(apiKeyId) };
  }

  /** Resolves the caller by an access token of the operator's provider: it opens what a key of its tenant does. */
  private async ofToken(token: string, asked: string | undefined): Promise<Caller> {
    const { tenantId, user, expiresAt } = await this.tokens.ownerOf(token);
    if (asked !== undefined && asked !== tenantId) throw authErrors.otherTenant();
    return { tenantId, actor: { kind: 'user', id: user }, accessEndsAt: expiresAt };
  }

  /** Whether it is a card that the operator lets any caller read, and the request names no caller. */
  private isOpenCard({ headers }: FastifyRequest, access: Access | undefined): boolean {
    return access === 'card' && this.config.auth.hasPublicCards && headers.authorization === undefined;
  }

  private anonymous(): Caller {
    return { tenantId: this.config.auth.defaultTenantId.toLowerCase() as TenantId, actor: { kind: 'none' } };
  }

  /** Tenant whose traces this deployment's own processes upload. */
  private uploaderOf(key: string, asked: string | undefined): TenantId | undefined {
    const tenantId = tenantOfTraceToken(this.config.secrets.key, key, new Date());
    if (tenantId) {
      if (asked !== undefined && asked !== tenantId) throw authErrors.otherTenant();
      return tenantId;
    }
    if (asked === undefined || !isSame(key, this.config.auth.internalKey)) return undefined;
    if (!isUuid(asked)) throw authErrors.otherTenant();
    return asked as TenantId;
  }

  /** Resolves the caller by the custom auth of langgraph.json; API keys are accepted only if langgraph.json allows them. */
  private async ofUser(request: FastifyRequest, access: Access | undefined): Promise<Caller> {
    const { disableStudioAuth, allowApiKeys } = this.customAuth.source!;
    const asked = headerOf(request, 'x-tenant-id')?.toLowerCase();
    const isStudio = !disableStudioAuth && headerOf(request, 'x-auth-scheme') === 'langsmith';
    const isKeyHolder = allowApiKeys && headerOf(request, 'authorization') === undefined;
    const key = headerOf(request, 'x-api-key');
    if (key === undefined && this.isOpenCard(request, access)) return this.anonymous();
    const calling = key === undefined ? undefined : this.apiKeys.internalCallerOf(key);
    if (calling?.user) {
      const { tenantId, user } = calling;
      if (asked !== undefined && asked !== tenantId) throw authErrors.otherTenant();
      return { tenantId, actor: { kind: 'user', id: user.identity }, user };
    }
    if (isStudio || (isKeyHolder && key !== undefined)) {
      // The scheme alone proves nothing: Studio needs a key like all callers.
      const owner = key === undefined ? undefined : await this.apiKeys.ownerOf(key);
      if (!owner) throw key === undefined ? authErrors.missingKey() : authErrors.unknownKey();
      if (asked !== undefined && asked !== owner.tenantId) throw authErrors.otherTenant();
      const { tenantId, apiKeyId } = owner;
      const name = apiKeyId ?? 'internal';
      const user = isStudio ? STUDIO_USER : { ...STUDIO_USER, kind: 'ApiKey', identity: name, display_name: name };
      return { tenantId, actor: actorOf(apiKeyId), user };
    }
    const user = await this.customAuth.authenticate(authRequestOf(request));
    const tenantId = await this.tenantOf(user);
    if (asked !== undefined && asked !== tenantId) throw authErrors.otherTenant();
    return { tenantId, actor: { kind: 'user', id: user.identity }, user };
  }

  /** Users belong to the default tenant, unless the module names another. */
  private async tenantOf({ gantry_tenant_id: named }: AuthUser): Promise<TenantId> {
    if (named === undefined || named === null) return this.config.auth.defaultTenantId.toLowerCase() as TenantId;
    if (typeof named === 'string' && isUuid(named) && (await this.tenants.exists(named))) {
      return named.toLowerCase() as TenantId;
    }
    throw authErrors.otherTenant();
  }

  /** The admin API requires its key even with auth off, since keys that are created there outlive that time. */
  private async operator(key: string | undefined): Promise<Caller> {
    if (key === undefined) throw authErrors.missingKey();
    if (isSame(key, this.config.auth.adminKey)) return { tenantId: undefined, actor: { kind: 'operator' } };
    if (!(await this.apiKeys.ownerOf(key))) throw authErrors.unknownKey();
    throw this.config.auth.adminKey === undefined ? authErrors.adminOff() : authErrors.operatorOnly();
  }
}

/** The actor of an API key; without one, the deployment itself called. */
function actorOf(apiKeyId: string | undefined): Actor {
  return apiKeyId === undefined ? { kind: 'internal' } : { kind: 'key', id: apiKeyId };
}
