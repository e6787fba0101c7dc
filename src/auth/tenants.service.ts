import { Injectable } from '@nestjs/common';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { AppConfig } from '../config/config';
import type { Page } from '../http/pagination';
import { isUuid } from '../http/uuid';
import { generateApiKey, hashApiKey, hintOf } from './api-key';
import type { ApiKeyEntity } from './api-key.entity';
import { adminErrors } from './auth.errors';
import { type Entitlement, ENTITLEMENTS } from './entitlements';
import type { TenantEntity } from './tenant.entity';
import { TenantsRepository } from './tenants.repository';
import type { TenantId } from './tenant';

export interface CreatedKey {
  row: ApiKeyEntity;
  /** The key itself, which is not stored. */
  key: string;
}

/** Operations on tenants and keys for the admin API and the command line. */
@Injectable()
export class TenantsService {
  constructor(
    private readonly config: AppConfig,
    private readonly repository: TenantsRepository,
  ) {}

  /** @throws {ApiError} 409 when there is a tenant with this id or name */
  async createTenant(name: string, tenantId: string = uuidv4()): Promise<TenantEntity> {
    if (!(await this.repository.insertTenant(tenantId as TenantId, name))) throw adminErrors.tenantExists(name);
    return this.getTenant(tenantId);
  }

  listTenants(limit: number, offset: number): Promise<Page<TenantEntity>> {
    return this.repository.listTenants(limit, offset);
  }

  async getTenant(tenantId: string): Promise<TenantEntity> {
    return (await this.repository.findTenant(tenantId as TenantId)) ?? reject(adminErrors.tenantNotFound());
  }

  async exists(tenantId: string): Promise<boolean> {
    return (await this.repository.findTenant(tenantId as TenantId)) !== null;
  }

  /** The tenant with this id or, if only one has it, this name. */
  async byIdOrName(idOrName: string): Promise<TenantEntity> {
    if (isUuid(idOrName)) return this.getTenant(idOrName);
    const named = await this.repository.findByName(idOrName);
    return named.length === 1 ? named[0] : reject(adminErrors.tenantNotFound());
  }

  /** Renames a tenant and switches entitlements; other fields stay as they are. */
  async changeTenant(
    tenantId: string,
    {
      name,
      entitlements,
    }: { name?: string | undefined; entitlements?: Partial<Record<Entitlement, boolean>> | undefined },
  ): Promise<TenantEntity> {
    const { disabledEntitlements } = await this.getTenant(tenantId);
    const disabled = ENTITLEMENTS.filter((each) => !(entitlements?.[each] ?? !disabledEntitlements.includes(each)));
    const changed = await this.repository.changeTenant(tenantId as TenantId, { name, disabledEntitlements: disabled });
    return changed ?? reject(adminErrors.tenantNotFound());
  }

  /** @throws {ApiError} 404 for an unknown tenant, 422 for an expiry in the past */
  async createKey(tenantId: string, name: string, expiresAt: Date | null): Promise<CreatedKey> {
    if (expiresAt && expiresAt.getTime() <= Date.now()) throw adminErrors.expiryInPast();
    await this.getTenant(tenantId);
    const key = generateApiKey();
    const hash = hashApiKey(this.config.secrets.key, key);
    const row = { apiKeyId: uuidv7(), tenantId, name, hash, hint: hintOf(key), expiresAt };
    return { row: await this.repository.insertKey(row), key };
  }

  /** Keys of a tenant, or of all, newest first; revoked ones too. */
  listKeys(tenantId: string | undefined, limit: number, offset: number): Promise<Page<ApiKeyEntity>> {
    return this.repository.listKeys(tenantId as TenantId | undefined, limit, offset);
  }

  /** Revokes a key, on every replica. */
  async revokeKey(apiKeyId: string): Promise<ApiKeyEntity> {
    return (await this.repository.revokeKey(apiKeyId)) ?? reject(adminErrors.keyNotFound());
  }
}

function reject(error: Error): never {
  throw error;
}
