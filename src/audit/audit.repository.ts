import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { RETENTION_SETTING } from '../database/tenant-isolation';
import { AuditRecordEntity } from './audit-record.entity';
import type { AuditQuery } from './audit.schemas';

/** The audit log: written by triggers, read across tenants by the operator. */
@Injectable()
export class AuditRepository {
  constructor(@InjectRepository(AuditRecordEntity) private readonly records: Repository<AuditRecordEntity>) {}

  /** Records that match all that is asked, newest first. */
  searchRecords(asked: AuditQuery): Promise<AuditRecordEntity[]> {
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

  /**
   * Deletes up to `limit` of the oldest records, if they were sealed before `time`, with their links. The last deleted record's
   * link stays: the next one's hash continues from it. Resolves to how many records there were.
   */
  deleteBefore(time: Date, limit: number): Promise<number> {
    return this.records.manager.transaction(async (manager) => {
      const [{ last }]: [{ last: string | null }] = await manager.query(
        `SELECT max(position) AS last FROM (
           SELECT position, sealed_at FROM audit_chain JOIN audit_log USING (audit_id) ORDER BY position LIMIT $2
         ) AS oldest WHERE sealed_at < $1`,
        [time, limit],
      );
      if (last === null) return 0;
      await manager.query(`SELECT set_config('${RETENTION_SETTING}', 'on', true)`);
      const [, deleted]: [unknown, number] = await manager.query(
        `DELETE FROM audit_log WHERE audit_id IN (SELECT audit_id FROM audit_chain WHERE position <= $1)`,
        [last],
      );
      await manager.query(`DELETE FROM audit_chain WHERE position < $1`, [last]);
      return deleted;
    });
  }
}
