import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { acrossTenants } from '../../database/request-scope';
import type { StoredToken } from '../link-tokens';

/** The subject of a share: a trace, by its root run, or a thread. */
export interface ShareSubject {
  projectId: string;
  runId?: string;
  threadId?: string;
}

export interface ShareRow {
  tenant_id: TenantId;
  share_id: string;
  project_id: string;
  run_id: string | null;
  thread_id: string | null;
  sealed_token: string;
}

const COLUMNS = 'tenant_id, share_id, project_id, run_id, thread_id, sealed_token';
/** Condition for the shared trace or thread; parameters: tenant, project, run, thread. */
const IS_SUBJECT = `tenant_id = $1 AND project_id = $2
  AND run_id IS NOT DISTINCT FROM $3::uuid AND thread_id IS NOT DISTINCT FROM $4::text`;

const subjectOf = ({ projectId, runId, threadId }: ShareSubject): unknown[] => [
  projectId,
  runId ?? null,
  threadId ?? null,
];

@Injectable()
export class SharesRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** @returns undefined when it is shared already */
  async insertShare(
    tenantId: TenantId,
    shareId: string,
    subject: ShareSubject,
    { hash, sealed }: StoredToken,
  ): Promise<ShareRow | undefined> {
    const rows = await this.database.query<ShareRow[]>(
      `INSERT INTO trace_shares (tenant_id, project_id, run_id, thread_id, share_id, token_hash, sealed_token)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
      [tenantId, ...subjectOf(subject), shareId, hash, sealed],
    );
    return rows[0];
  }

  async findShare(tenantId: TenantId, subject: ShareSubject): Promise<ShareRow | undefined> {
    const rows = await this.database.query<ShareRow[]>(`SELECT ${COLUMNS} FROM trace_shares WHERE ${IS_SUBJECT}`, [
      tenantId,
      ...subjectOf(subject),
    ]);
    return rows[0];
  }

  /** The shares of traces, by their root runs. */
  async ofRuns(tenantId: TenantId, runIds: string[]): Promise<ShareRow[]> {
    return await this.database.query<ShareRow[]>(
      `SELECT ${COLUMNS} FROM trace_shares WHERE tenant_id = $1 AND run_id = ANY ($2::uuid[])`,
      [tenantId, runIds],
    );
  }

  async deleteShare(tenantId: TenantId, subject: ShareSubject): Promise<void> {
    await this.database.query(`DELETE FROM trace_shares WHERE ${IS_SUBJECT}`, [tenantId, ...subjectOf(subject)]);
  }

  /** The token alone determines the tenant. */
  async findByToken(hash: Buffer): Promise<ShareRow | undefined> {
    const rows = await acrossTenants(() =>
      this.database.query<ShareRow[]>(`SELECT ${COLUMNS} FROM trace_shares WHERE token_hash = $1`, [hash]),
    );
    return rows[0];
  }
}
