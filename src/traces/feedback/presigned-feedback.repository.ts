import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { acrossTenants } from '../../database/request-scope';
import { Instant } from '../instant';
import type { StoredToken } from '../link-tokens';
import { selectInstant } from '../trace-wire';

export interface FeedbackLinkRow {
  tenant_id: TenantId;
  link_id: string;
  run_id: string;
  key: string;
  /** Id of the feedback that the link leaves; following it again replaces the feedback. */
  feedback_id: string;
  feedback_config: unknown;
  sealed_token: string;
  expires_at: Instant;
}

export type NewFeedbackLink = Omit<FeedbackLinkRow, 'tenant_id' | 'sealed_token'> & StoredToken;

const COLUMNS = `tenant_id, link_id, run_id, key, feedback_id, feedback_config, sealed_token,
  ${selectInstant('expires_at')} AS expires_at`;

@Injectable()
export class PresignedFeedbackRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  async insertLinks(tenantId: TenantId, links: NewFeedbackLink[]): Promise<void> {
    const column = (read: (link: NewFeedbackLink) => unknown): unknown[] => links.map(read);
    await this.database.query(
      `INSERT INTO trace_feedback_links
         (tenant_id, link_id, run_id, key, feedback_id, feedback_config, token_hash, sealed_token, expires_at)
       SELECT $1, * FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::json[], $7::bytea[], $8::text[], $9::timestamptz[])`,
      [
        tenantId,
        column((link) => link.link_id),
        column((link) => link.run_id),
        column((link) => link.key),
        column((link) => link.feedback_id),
        column((link) => (link.feedback_config == null ? null : JSON.stringify(link.feedback_config))),
        column((link) => link.hash),
        column((link) => link.sealed),
        column((link) => link.expires_at),
      ],
    );
  }

  /** Valid links of a run, oldest first. */
  async listLinks(tenantId: TenantId, runId: string, limit: number, offset: number): Promise<FeedbackLinkRow[]> {
    return await this.database.query<FeedbackLinkRow[]>(
      `SELECT ${COLUMNS} FROM trace_feedback_links WHERE tenant_id = $1 AND run_id = $2 AND expires_at > now()
       ORDER BY created_at, link_id LIMIT $3 OFFSET $4`,
      [tenantId, runId, limit, offset],
    );
  }

  /** The token alone determines the tenant. */
  async findByToken(hash: Buffer): Promise<FeedbackLinkRow | undefined> {
    const rows = await acrossTenants(() =>
      this.database.query<FeedbackLinkRow[]>(
        `SELECT ${COLUMNS} FROM trace_feedback_links WHERE token_hash = $1 AND expires_at > now()`,
        [hash],
      ),
    );
    return rows[0];
  }
}
