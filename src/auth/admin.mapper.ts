import { toApiTime } from '../http/api-time';
import type { ApiKey, Tenant } from './admin.schemas';
import type { ApiKeyEntity } from './api-key.entity';
import { ENTITLEMENTS } from './entitlements';
import type { TenantEntity } from './tenant.entity';

export function toTenant({ tenantId, name, disabledEntitlements, createdAt }: TenantEntity): Tenant {
  const entitlements = ENTITLEMENTS.map((each) => [each, !disabledEntitlements.includes(each)]);
  return {
    tenant_id: tenantId,
    name,
    entitlements: Object.fromEntries(entitlements) as Tenant['entitlements'],
    created_at: toApiTime(createdAt),
  };
}

export function toApiKey(row: ApiKeyEntity): ApiKey {
  return {
    key_id: row.apiKeyId,
    tenant_id: row.tenantId,
    name: row.name,
    hint: row.hint,
    created_at: toApiTime(row.createdAt),
    expires_at: row.expiresAt && toApiTime(row.expiresAt),
    revoked_at: row.revokedAt && toApiTime(row.revokedAt),
    last_used_at: row.lastUsedAt && toApiTime(row.lastUsedAt),
  };
}
