import { createHmac } from 'node:crypto';
import { Injectable, OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { AppConfig } from '../config/config';
import { ApiKeyEntity } from './api-key.entity';
import { tenantOfCallToken } from './call-token';
import { TenantEntity } from './tenant.entity';
import type { TenantId } from './tenant';

/** How long a key's tenant is remembered, so that each request doesn't cost a query; a revocation takes as long. */
const CACHE_MS = 5_000;
const CACHE_ENTRIES = 10_000;

@Injectable()
export class ApiKeysService implements OnModuleInit {
  private readonly cache = new Map<string, { tenantId: TenantId | undefined; until: number }>();

  constructor(
    private readonly config: AppConfig,
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
    @InjectRepository(TenantEntity) private readonly tenants: Repository<TenantEntity>,
  ) {}

  /** The default tenant and the key that the supervisor generated exist from the first start on. */
  async onModuleInit(): Promise<void> {
    const tenantId = this.config.defaultTenantId;
    await this.tenants.upsert(
      { tenantId, name: 'default' },
      { conflictPaths: ['tenantId'], skipUpdateIfNoValuesChanged: true },
    );
    if (this.config.devApiKey) await this.register(tenantId as TenantId, 'development', this.config.devApiKey);
  }

  /** Makes `key` a key of the tenant; a key that is known already stays as it is. */
  async register(tenantId: TenantId, name: string, key: string): Promise<void> {
    await this.keys
      .createQueryBuilder()
      .insert()
      .values({ apiKeyId: uuidv7(), tenantId, name, hash: this.hash(key) })
      .orIgnore()
      .execute();
  }

  /** The tenant of a key that is neither expired nor revoked. */
  async tenantOf(key: string): Promise<TenantId | undefined> {
    const calling = tenantOfCallToken(this.config.secretKey, key, new Date());
    if (calling) return calling;
    const hash = this.hash(key);
    const cacheKey = hash.toString('base64');
    const cached = this.cache.get(cacheKey);
    if (cached && cached.until > Date.now()) return cached.tenantId;
    const row = await this.keys.findOneBy({ hash });
    const valid = row && !row.revokedAt && (!row.expiresAt || row.expiresAt.getTime() > Date.now());
    const tenantId = valid ? (row.tenantId as TenantId) : undefined;
    if (this.cache.size >= CACHE_ENTRIES) this.cache.clear();
    this.cache.set(cacheKey, { tenantId, until: Date.now() + CACHE_MS });
    return tenantId;
  }

  private hash(key: string): Buffer {
    return createHmac('sha256', this.config.secretKey).update('api-key:').update(key).digest();
  }
}
