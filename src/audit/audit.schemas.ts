import { z } from 'zod';
import { queryInteger } from '../http/query';
import { uuid } from '../http/uuid';

export const AUDIT_ACTIONS = [
  'create',
  'update',
  'delete',
  'cancel',
  'revoke',
  'retry',
  'trigger',
  'backfill',
  'prune',
  'refuse',
] as const;

export const auditRecordSchema = z.object({
  audit_id: z.string(),
  at: z.string(),
  /** Null for a refused login: whose it was to be isn't known. */
  tenant_id: z.string().nullable(),
  actor: z.object({ kind: z.string(), id: z.string().nullable(), address: z.string().nullable() }),
  action: z.string(),
  resource: z.string(),
  resource_id: z.string().nullable(),
  /** Namespace and key of an item of the store. */
  item: z.object({ namespace: z.array(z.string()), key: z.string() }).nullable(),
  /** Names of what an update changed; never the values. */
  changed: z.array(z.string()).nullable(),
  /** Code of the error that answered a refused login. */
  reason: z.string().nullable(),
});
export type AuditRecord = z.output<typeof auditRecordSchema>;

const instant = z.iso.datetime({ offset: true }).optional();

export const auditQuery = z.object({
  tenant_id: uuid.optional(),
  actor_id: z.string().max(500).optional(),
  action: z.enum(AUDIT_ACTIONS).optional(),
  resource: z.string().max(100).optional(),
  resource_id: uuid.optional(),
  since: instant,
  until: instant,
  /** Records before this one: the last `audit_id` of the page before. */
  before: z
    .string()
    .regex(/^\d{1,18}$/, 'must be an audit_id')
    .optional(),
  limit: queryInteger({ min: 1, max: 1000, default: 100 }),
});
export type AuditQuery = z.output<typeof auditQuery>;
