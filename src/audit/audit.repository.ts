import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AuditRecordEntity } from './audit-record.entity';
import type { AuditQuery } from './audit.schemas';

/** The audit log: written by triggers, read across tenants by the operator. */
@Injectable()
export class AuditRepository {
  constructor(@InjectRepository(AuditRecordEntity) private readonly records: Repository<AuditRecordEntity>) {}

  /** Records that match all that is asked, newest first. */
  search(asked: AuditQuery): Promise<AuditRecordEntity[]> {
    const query = this.records.createQueryBuilder('a').orderBy('a.auditId', 'DESC').limit(asked.limit);
    const where = (sql: string, name: keyof AuditQuery): void => {
      if (asked[name] !== undefined) query.andWhere(sql, { [name]: asked[name] });
    };
    where('a.tenantId = :tenant_id', 'tenant_id');
    where('a.actorId = :actor_id', 'actor_id');
    where('a.action = :action', 'action');
    where('a.resource = :resource', 'resource');
    where('a.resourceId = :resource_id', 'resource_id');
    where('a.at >= :since', 'since');
    where('a.at < :until', 'until');
    where('a.auditId < :before', 'before');
    return query.getMany();
  }

  /** Deletes up to `limit` records from before `time`; resolves to how many there were. */
  async deleteBefore(time: Date, limit: number): Promise<number> {
    const [, deleted]: [unknown, number] = await this.records.query(
      `DELETE FROM audit_log WHERE audit_id IN (SELECT audit_id FROM audit_log WHERE at < $1 ORDER BY audit_id LIMIT $2)`,
      [time, limit],
    );
    return deleted;
  }
}
