import { Injectable, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Notifications } from '../database/notifications';
import { acrossTenants } from '../database/request-scope';
import { onAuthChange } from './auth-changes';
import { authErrors } from './auth.errors';
import type { Entitlement } from './entitlements';
import { TenantEntity } from './tenant.entity';
import type { TenantId } from './tenant';

/** Time that entitlements are cached: the delay of a change whose notification is lost. */
const CACHE_MS = 5_000;

/** Entitlements of tenants to features of higher plans. */
@Injectable()
export class EntitlementsService implements OnModuleInit, OnModuleDestroy {
  private readonly cache = new Map<string, { disabled: ReadonlySet<Entitlement>; until: number }>();
  private unsubscribe: (() => void) | undefined;

  constructor(
    @InjectRepository(TenantEntity) private readonly tenants: Repository<TenantEntity>,
    private readonly notifications: Notifications,
  ) {}

  async onModuleInit(): Promise<void> {
    this.unsubscribe = await onAuthChange(this.notifications, () => this.cache.clear());
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
  }

  async has(tenantId: TenantId, entitlement: Entitlement): Promise<boolean> {
    return !(await this.disabled(tenantId)).has(entitlement);
  }

  /** @throws {ApiError} 403 when the operator has switched it off for the tenant */
  async require(tenantId: TenantId, entitlement: Entitlement): Promise<void> {
    if (!(await this.has(tenantId, entitlement))) throw authErrors.notEntitled(entitlement);
  }

  private async disabled(tenantId: TenantId): Promise<ReadonlySet<Entitlement>> {
    const cached = this.cache.get(tenantId);
    if (cached && cached.until > Date.now()) return cached.disabled;
    // A request's own connection has no access to the table of tenants.
    const tenant = await acrossTenants(() => this.tenants.findOneBy({ tenantId }));
    const disabled = new Set(tenant?.disabledEntitlements);
    this.cache.set(tenantId, { disabled, until: Date.now() + CACHE_MS });
    return disabled;
  }
}
