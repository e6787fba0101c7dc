import { z } from 'zod';
import { queryInteger } from '../http/query';
import { uuid } from '../http/uuid';
import { ENTITLEMENTS } from './entitlements';

const name = z.string().trim().min(1).max(200);
const entitlements = z.partialRecord(z.enum(ENTITLEMENTS), z.boolean());

export const tenantSchema = z.object({
  tenant_id: z.guid(),
  name: z.string(),
  entitlements: z.record(z.enum(ENTITLEMENTS), z.boolean()),
  created_at: z.string(),
});
export type Tenant = z.output<typeof tenantSchema>;

export const createTenantSchema = z.object({ name, tenant_id: uuid.optional() });
export type CreateTenant = z.output<typeof createTenantSchema>;

export const patchTenantSchema = z.object({ name: name.optional(), entitlements: entitlements.optional() });
export type PatchTenant = z.output<typeof patchTenantSchema>;

export const tenantParam = z.object({ tenant_id: uuid });
export const keyParam = z.object({ key_id: uuid });

export const apiKeySchema = z.object({
  key_id: z.uuid(),
  tenant_id: z.string(),
  name: z.string(),
  /** Its first and last characters. */
  hint: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  /** Exact to about a minute. */
  last_used_at: z.string().nullable(),
});
export type ApiKey = z.output<typeof apiKeySchema>;

export const createdKeySchema = apiKeySchema.extend({ key: z.string() });
export type CreatedApiKey = z.output<typeof createdKeySchema>;

export const createKeySchema = z.object({
  tenant_id: uuid,
  name,
  expires_at: z.iso.datetime({ offset: true }).optional(),
});
export type CreateKey = z.output<typeof createKeySchema>;

const page = { limit: queryInteger({ min: 1, max: 1000, default: 100 }), offset: queryInteger({ min: 0, default: 0 }) };
export const listTenantsQuery = z.object(page);
export type ListTenants = z.output<typeof listTenantsQuery>;
export const listKeysQuery = z.object({ ...page, tenant_id: uuid.optional() });
export type ListKeys = z.output<typeof listKeysQuery>;
