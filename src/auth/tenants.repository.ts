import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { Page } from '../http/pagination';
import { ApiKeyEntity } from './api-key.entity';
import { announceAuthChange } from './auth-changes';
import type { Entitlement } from './entitlements';
import { TenantEntity } from './tenant.entity';
import type { TenantId } from './tenant';

export interface TenantChange {
  name?: string | undefined;
  disabledEntitlements?: Entitlement[] | undefined;
}

/** Tenants and their keys: the operator's tables, read and written across tenants. */
@Injectable()
export class TenantsRepository {
  constructor(
    @InjectRepository(TenantEntity) private readonly tenants: Repository<TenantEntity>,
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
  ) {}

  findTenant(tenantId: TenantId): Promise<TenantEntity | null> {
    return this.tenants.findOneBy({ tenantId });
  }

  findByName(name: string): Promise<TenantEntity[]> {
    return this.tenants.findBy({ name });
  }

  async listTenants(limit: number, offset: number): Promise<Page<TenantEntity>> {
    const order = { createdAt: 'ASC', tenantId: 'ASC' } as const;
    const [items, total] = await this.tenants.findAndCount({ order, take: limit, skip: offset });
    return { items, total };
  }

  /** Resolves to false when there is a tenant with this id or name. */
  async insertTenant(tenantId: TenantId, name: string): Promise<boolean> {
    const inserted: unknown[] = await this.tenants.query(
      `INSERT INTO tenants (tenant_id, name) SELECT $1::uuid, $2::text
       WHERE NOT EXISTS (SELECT FROM tenants WHERE name = $2) ON CONFLICT DO NOTHING RETURNING 1`,
      [tenantId, name],
    );
    return inserted.length > 0;
  }

  changeTenant(tenantId: TenantId, change: TenantChange): Promise<TenantEntity | null> {
    return this.tenants.manager.transaction(async (manager) => {
      const tenant = await manager.findOne(TenantEntity, { where: { tenantId }, lock: { mode: 'pessimistic_write' } });
      if (!tenant) return null;
      const { name = tenant.name, disabledEntitlements = tenant.disabledEntitlements } = change;
      await manager.update(TenantEntity, { tenantId }, { name, disabledEntitlements });
      await announceAuthChange(manager);
      return { ...tenant, name, disabledEntitlements };
    });
  }

  async listKeys(tenantId: TenantId | undefined, limit: number, offset: number): Promise<Page<ApiKeyEntity>> {
    const [items, total] = await this.keys.findAndCount({
      where: tenantId === undefined ? {} : { tenantId },
      order: { createdAt: 'DESC', apiKeyId: 'DESC' },
      take: limit,
      skip: offset,
    });
    return { items, total };
  }

  async insertKey(
    key: Pick<ApiKeyEntity, 'apiKeyId' | 'tenantId' | 'name' | 'hash' | 'hint' | 'expiresAt'>,
  ): Promise<ApiKeyEntity> {
    await this.keys.insert(key);
    return this.keys.findOneByOrFail({ apiKeyId: key.apiKeyId });
  }

  /** Marks the key as revoked, the first time; resolves to null when there is no such key. */
  revokeKey(apiKeyId: string): Promise<ApiKeyEntity | null> {
    return this.keys.manager.transaction(async (manager) => {
      await manager.query(`UPDATE api_keys SET revoked_at = now() WHERE api_key_id = $1 AND revoked_at IS NULL`, [
        apiKeyId,
      ]);
      await announceAuthChange(manager);
      return manager.findOneBy(ApiKeyEntity, { apiKeyId });
    });
  }
}
