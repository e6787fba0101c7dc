import { toApiTime } from '../http/api-time';
import { fromPath } from '../item-store/namespace';
import type { AuditRecord } from './audit.schemas';
import type { AuditRecordEntity } from './audit-record.entity';

export function toAuditRecord(row: AuditRecordEntity): AuditRecord {
  const { auditId, at, tenantId, actorKind, actorId, address, action, resource, resourceId, item, changed, reason } =
    row;
  return {
    audit_id: auditId,
    at: toApiTime(at),
    tenant_id: tenantId,
    actor: { kind: actorKind, id: actorId, address },
    action,
    resource,
    resource_id: resourceId,
    item: item && { namespace: fromPath(item[0]), key: item[1] },
    changed,
    reason,
  };
}
