import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Link, SealedContent } from './audit-chain';

const utc = (column: string): string => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const CONTENT = `a.audit_id AS "auditId", ${utc('a.at')} AS at, a.tenant_id AS "tenantId", a.actor_kind AS "actorKind",
  a.actor_id AS "actorId", a.address, a.action, a.resource, a.resource_id AS "resourceId", a.item, a.changed, a.reason`;
const LINK = `c.position::float8 AS position, c.audit_id AS "auditId", ${utc('c.sealed_at')} AS "sealedAt", c.hash`;

/** The chain of the audit log: a link for each record, in the order in which the records were sealed. */
@Injectable()
export class AuditChainRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  async head(): Promise<Link | undefined> {
    const [head] = await this.database.query<Link[]>(
      `SELECT ${LINK} FROM audit_chain c ORDER BY c.position DESC LIMIT 1`,
    );
    return head;
  }

  /** Records without a link, oldest first, of those after `auditId`. */
  unsealed(auditId: string, limit: number): Promise<SealedContent[]> {
    return this.database.query<SealedContent[]>(
      `SELECT ${CONTENT} FROM audit_log a
       WHERE a.audit_id > $1 AND NOT EXISTS (SELECT FROM audit_chain c WHERE c.audit_id = a.audit_id)
       ORDER BY a.audit_id LIMIT $2`,
      [auditId, limit],
    );
  }

  /** Two writers can't continue from the same link: the second one fails. */
  async append(links: Link[]): Promise<void> {
    await this.database.query(
      `INSERT INTO audit_chain (position, audit_id, sealed_at, hash)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::bytea[])`,
      [
        links.map(({ position }) => position),
        links.map(({ auditId }) => auditId),
        links.map(({ sealedAt }) => sealedAt),
        links.map(({ hash }) => hash),
      ],
    );
  }

  /** Links after a position, each with its record if that is there. */
  page(position: number, limit: number): Promise<(Link & { content: SealedContent | null })[]> {
    return this.database
      .query<(Link & SealedContent & { isThere: boolean })[]>(
        `SELECT ${CONTENT}, a.audit_id IS NOT NULL AS "isThere", ${LINK}
         FROM audit_chain c LEFT JOIN audit_log a ON a.audit_id = c.audit_id
         WHERE c.position > $1 ORDER BY c.position LIMIT $2`,
        [position, limit],
      )
      .then((rows) =>
        rows.map(({ position: place, sealedAt, hash, isThere, ...content }) => ({
          position: place,
          auditId: content.auditId,
          sealedAt,
          hash,
          content: isThere ? content : null,
        })),
      );
  }

  /** Records from before `time` that have no link. */
  async countUnsealed(time: Date): Promise<number> {
    const [{ count }] = await this.database.query<[{ count: number }]>(
      `SELECT count(*)::float8 AS count FROM audit_log a
       WHERE a.at < $1 AND NOT EXISTS (SELECT FROM audit_chain c WHERE c.audit_id = a.audit_id)`,
      [time],
    );
    return count;
  }
}
