import { queryOptions } from '@tanstack/react-query';
import { request } from '../../api/client';
import { getJson, getPage, sendJson } from '../../api/json';

/** Items that are read at a time. */
const PAGE_SIZE = 1000;

/** All items of a list of the operator's, in as many requests as it has pages. */
async function readAll<Item>(path: string): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const page = await getPage<Item>(path, { limit: PAGE_SIZE, offset: items.length });
    items.push(...page.items);
    if (page.items.length === 0 || items.length >= page.total) return items;
  }
}

export interface Tenant {
  tenant_id: string;
  name: string;
  entitlements: Record<string, boolean>;
  created_at: string;
}

export interface ApiKey {
  key_id: string;
  tenant_id: string;
  name: string;
  hint: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

export interface AuditRecord {
  audit_id: string;
  at: string;
  tenant_id: string | null;
  actor: { kind: string; id: string | null; address: string | null };
  action: string;
  resource: string;
  resource_id: string | null;
  changed: string[] | null;
  reason: string | null;
}

export interface Me {
  tenant_id: string;
  kind: string;
  identity: string | null;
  permissions: string[] | null;
  entitlements: Record<string, boolean>;
}

/** The caller, and how many requests it may still send; null where the server sets no limit. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async () => {
    const response = await request('/api/v1/me');
    const [limit, left, seconds] = ['limit', 'remaining', 'reset'].map((name) =>
      response.headers.get(`x-ratelimit-${name}`),
    );
    return { ...((await response.json()) as Me), rate: limit === null ? null : { limit, left, seconds } };
  },
});
export const tenantsQuery = queryOptions({
  queryKey: ['admin', 'tenants'],
  queryFn: () => readAll<Tenant>('/admin/tenants'),
  retry: false,
});
export const keysQuery = queryOptions({
  queryKey: ['admin', 'keys'],
  queryFn: () => readAll<ApiKey>('/admin/keys'),
  retry: false,
});
/** The newest audit records, or those before a given record. */
export const readAudit = (action: string | undefined, before: string | undefined) =>
  getJson<AuditRecord[]>('/admin/audit', { limit: 100, action, before });

export const createTenant = (name: string) => sendJson<Tenant>('POST', '/admin/tenants', { name });
export const renameTenant = (tenantId: string, name: string) =>
  sendJson<Tenant>('PATCH', `/admin/tenants/${tenantId}`, { name });
export const setEntitlement = (tenantId: string, entitlement: string, isGiven: boolean) =>
  sendJson<Tenant>('PATCH', `/admin/tenants/${tenantId}`, { entitlements: { [entitlement]: isGiven } });
export const createKey = (body: { tenant_id: string; name: string; expires_at?: string }) =>
  sendJson<ApiKey & { key: string }>('POST', '/admin/keys', body);
export const revokeKey = (id: string) => sendJson('DELETE', `/admin/keys/${id}`);
