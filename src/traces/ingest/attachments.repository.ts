import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import type { Attachment } from './multipart-operations';

@Injectable()
export class AttachmentsRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** The first content of a name stays: clients send an attachment once, and again only when they retry. */
  async insert(manager: EntityManager, tenantId: TenantId, attachments: Attachment[]): Promise<void> {
    for (const { runId, name, mimeType, data } of attachments) {
      await manager.query(
        `INSERT INTO trace_attachments (tenant_id, run_id, name, mime_type, data) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant_id, run_id, name) DO NOTHING`,
        [tenantId, runId, name, mimeType, data],
      );
    }
  }

  /** Names and types of these runs' attachments. */
  async list(tenantId: TenantId, runIds: string[]): Promise<{ run_id: string; name: string; mime_type: string }[]> {
    return this.database.query(
      `SELECT run_id, name, mime_type FROM trace_attachments
       WHERE tenant_id = $1 AND run_id = ANY ($2::uuid[]) ORDER BY run_id, name`,
      [tenantId, runIds],
    );
  }

  async read(
    tenantId: TenantId,
    runId: string,
    name: string,
  ): Promise<{ mime_type: string; data: Buffer } | undefined> {
    const rows = await this.database.query<{ mime_type: string; data: Buffer }[]>(
      'SELECT mime_type, data FROM trace_attachments WHERE tenant_id = $1 AND run_id = $2 AND name = $3',
      [tenantId, runId, name],
    );
    return rows[0];
  }
}
