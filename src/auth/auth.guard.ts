import { timingSafeEqual } from 'node:crypto';
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { validate as isUuid } from 'uuid';
import { AppConfig } from '../config/config';
import { type Actor, AddressKeeper } from './actor';
import { ApiKeysService } from './api-keys.service';
import { authErrors } from './auth.errors';
import { type Entitlement, ENTITLEMENT } from './entitlements';
import { EntitlementsService } from './entitlements.service';
import { ACCESS, Access, TenantId } from './tenant';

interface Caller {
  /** Undefined for the operator, who is of no tenant. */
  tenantId: TenantId | undefined;
  actor: Actor;
}

/** The one place where a request becomes a tenant's: `X-API-Key` names it, `X-Tenant-Id` must agree. */
@Injectable()
export class AuthGuard implements CanActivate {
  private readonly addresses: AddressKeeper;

  constructor(
    private readonly reflector: Reflector,
    private readonly config: AppConfig,
    private readonly apiKeys: ApiKeysService,
    private readonly entitlements: EntitlementsService,
  ) {
    this.addresses = new AddressKeeper(config.auditAddresses, config.secretKey);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const declared = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, declared);
    if (access === 'public') return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { tenantId, actor } = await this.resolve(request, access);
    const address = this.addresses.keep(request.ip);
    request.tenantId = tenantId;
    request.actor = { ...actor, ...(address !== undefined && { address }) };
    const needed = this.reflector.getAllAndOverride<Entitlement | undefined>(ENTITLEMENT, declared);
    if (needed && tenantId) await this.entitlements.require(tenantId, needed);
    return true;
  }

  private async resolve(request: FastifyRequest, access: Access | undefined): Promise<Caller> {
    const asked = header(request, 'x-tenant-id')?.toLowerCase();
    const key = header(request, 'x-api-key');
    if (access === 'operator') return this.operator(key);
    if (access === 'internal' && key !== undefined && asked !== undefined && isSame(key, this.config.internalKey)) {
      if (!isUuid(asked)) throw authErrors.otherTenant();
      return { tenantId: asked as TenantId, actor: { kind: 'internal' } };
    }
    if (!this.config.authEnabled) {
      const only = this.config.defaultTenantId.toLowerCase() as TenantId;
      if (asked !== undefined && asked !== only) throw authErrors.otherTenant();
      return { tenantId: only, actor: { kind: 'none' } };
    }
    if (key === undefined) throw authErrors.missingKey();
    if (access === 'tenant-header' && asked === undefined) throw authErrors.missingTenant();
    const owner = await this.apiKeys.ownerOf(key);
    if (!owner) throw authErrors.unknownKey();
    if (asked !== undefined && asked !== owner.tenantId) throw authErrors.otherTenant();
    const { tenantId, apiKeyId } = owner;
    return { tenantId, actor: apiKeyId ? { kind: 'key', id: apiKeyId } : { kind: 'internal' } };
  }

  /** The admin API asks for its key even where nothing else does: what is made there outlives a time without auth. */
  private async operator(key: string | undefined): Promise<Caller> {
    if (key === undefined) throw authErrors.missingKey();
    if (isSame(key, this.config.adminKey)) return { tenantId: undefined, actor: { kind: 'operator' } };
    if (!(await this.apiKeys.ownerOf(key))) throw authErrors.unknownKey();
    throw this.config.adminKey === undefined ? authErrors.adminOff() : authErrors.operatorOnly();
  }
}

/** In constant time for keys of the same length. */
function isSame(given: string, expected: string | undefined): boolean {
  if (expected === undefined) return false;
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
