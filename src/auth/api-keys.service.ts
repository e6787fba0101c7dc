import { timingSafeEqual } from 'node:crypto';
import { Injectable, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { AppConfig } from '../config/config';
import { Notifications } from '../database/notifications';
import { acrossTenants, inScope } from '../database/request-scope';
import { hashApiKey, hintOf } from './api-key';
import { ApiKeyEntity } from './api-key.entity';
import { onAuthChange } from './auth-changes';
import { callerOfToken, type InternalCaller } from './call-token';
import { KeyUsage } from './key-usage';
import { TenantEntity } from './tenant.entity';
import type { TenantId } from './tenant';

/** Time that a key is cached to save a query per request: also the delay of a revocation whose notification is lost. */
const CACHE_MS = 5_000;
const CACHE_ENTRIES = 10_000;

/** The tenant of the key. */
export interface KeyOwner extends InternalCaller {
  /** Undefined for a call of this deployment to itself. */
  apiKeyId?: string;
}

interface KnownKey extends KeyOwner {
  apiKeyId: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** Finds the owner of a request's key. */
@Injectable()
export class ApiKeysService implements OnModuleInit, OnModuleDestroy {
  private readonly cache = new Map<string, { key: KnownKey | undefined; until: number }>();
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly config: AppConfig,
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
    @InjectRepository(TenantEntity) private readonly tenants: Repository<TenantEntity>,
    private readonly notifications: Notifications,
    private readonly usage: KeyUsage,
  ) {}

  /** Creates the default tenant and the key that the supervisor generated. */
  async onModuleInit(): Promise<void> {
    const tenantId = this.config.auth.defaultTenantId;
    await this.tenants.createQueryBuilder().insert().values({ tenantId, name: 'default' }).orIgnore().execute();
    const { apiKey } = this.config.auth;
    if (apiKey) {
      // Recorded as a change by the operator, since it comes from a setting.
      const actor = JSON.stringify({ kind: 'operator', id: 'GANTRY_API_KEY' });
      await inScope({ tenantId: undefined, isAcrossTenants: true, actor }, () =>
        this.register(tenantId as TenantId, 'development', apiKey),
      );
    }
    this.unsubscribe = await onAuthChange(this.notifications, () => this.cache.clear());
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
  }

  /** Makes `key` a key of the tenant; a key that is known already stays as it is. */
  async register(tenantId: TenantId, name: string, key: string): Promise<void> {
    const hash = hashApiKey(this.config.secrets.key, key);
    await this.keys
      .createQueryBuilder()
      .insert()
      .values({ apiKeyId: uuidv7(), tenantId, name, hash, hint: hintOf(key) })
      .orIgnore()
      .execute();
  }

  /** The owner of a key that is neither expired nor revoked. */
  async ownerOf(key: string): Promise<KeyOwner | undefined> {
    const calling = this.internalCallerOf(key);
    if (calling) return calling;
    const known = await this.find(hashApiKey(this.config.secrets.key, key));
    if (!known || known.expiresAt <= Date.now()) return undefined;
    this.usage.touch(known.apiKeyId);
    return known;
  }

  /** Reads which of the keys are revoked, expired or deleted. */
  async useless(apiKeyIds: string[]): Promise<string[]> {
    const rows: { id: string }[] = await acrossTenants(() =>
      this.keys.query(
        `SELECT id FROM unnest($1::uuid[]) AS id WHERE NOT EXISTS (
           SELECT FROM api_keys WHERE api_key_id = id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
         )`,
        [apiKeyIds],
      ),
    );
    return rows.map(({ id }) => id);
  }

  /** The caller, if it is this deployment itself. */
  internalCallerOf(key: string): InternalCaller | undefined {
    return callerOfToken(this.config.secrets.key, key, new Date());
  }

  private async find(hash: Buffer): Promise<KnownKey | undefined> {
    const cacheKey = hash.toString('base64');
    const cached = this.cache.get(cacheKey);
    if (cached && cached.until > Date.now()) return cached.key;
    // Also called in public routes, whose scope has no rows: the key's owner determines the visible rows.
    const row = await acrossTenants(() => this.keys.findOneBy({ hash }));
    // The index found it by its HMAC; equality is checked in constant time.
    const key =
      row && !row.revokedAt && timingSafeEqual(row.hash, hash)
        ? {
            apiKeyId: row.apiKeyId,
            tenantId: row.tenantId as TenantId,
            expiresAt: row.expiresAt?.getTime() ?? Infinity,
          }
        : undefined;
    if (this.cache.size >= CACHE_ENTRIES) this.cache.clear();
    this.cache.set(cacheKey, { key, until: Date.now() + CACHE_MS });
    return key;
  }
}
