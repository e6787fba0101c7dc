import { timingSafeEqual } from 'node:crypto';
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { AppConfig } from '../config/config';
import { ApiKeysService } from './api-keys.service';
import { authErrors } from './auth.errors';
import { ACCESS, Access, TenantId } from './tenant';

/** The one place where a request becomes a tenant's: `X-API-Key` names it, `X-Tenant-Id` must agree. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly config: AppConfig,
    private readonly apiKeys: ApiKeysService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (access === 'public') return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    request.tenantId = await this.resolve(request, access);
    return true;
  }

  private async resolve(request: FastifyRequest, access: Access | undefined): Promise<TenantId> {
    const asked = header(request, 'x-tenant-id');
    const key = header(request, 'x-api-key');
    if (access === 'internal' && key !== undefined && asked !== undefined && this.isInternalKey(key)) {
      return asked as TenantId;
    }
    if (!this.config.authEnabled) {
      const only = this.config.defaultTenantId as TenantId;
      if (asked !== undefined && asked.toLowerCase() !== only.toLowerCase()) throw authErrors.otherTenant();
      return only;
    }
    if (key === undefined) throw authErrors.missingKey();
    if (access === 'tenant-header' && asked === undefined) throw authErrors.missingTenant();
    const tenantId = await this.apiKeys.tenantOf(key);
    if (!tenantId) throw authErrors.unknownKey();
    if (asked !== undefined && asked.toLowerCase() !== tenantId) throw authErrors.otherTenant();
    return tenantId;
  }

  private isInternalKey(key: string): boolean {
    const expected = Buffer.from(this.config.internalKey ?? '');
    const given = Buffer.from(key);
    return expected.length > 0 && expected.length === given.length && timingSafeEqual(expected, given);
  }
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
