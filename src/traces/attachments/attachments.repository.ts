import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../../auth/tenant';

/** Time within which an upload that wrote an object must commit the row that names it. */
const UPLOAD_SECONDS = 86_400;
/** Time until the next attempt to delete an object that could not be deleted. */
const RETRY_SECONDS = 600;

/** An attachment as its row has it: the bytes are in the object store, or in the row where there is none. */
export interface StoredAttachment {
  runId: string;
  name: string;
  mimeType: string;
  size: number;
  objectKey: string | null;
  data: Buffer | null;
}

export interface AttachmentContent {
  mime_type: string;
  /** Null for rows of releases that did not store it. */
  size: string | null;
  object_key: string | null;
  data: Buffer | null;
}

export interface InlineAttachment {
  tenant_id: TenantId;
  run_id: string;
  name: string;
  data: Buffer;
}

export interface DiscardedObject {
  tenant_id: TenantId;
  object_key: string;
}

const keyOf = ({ runId, name }: StoredAttachment): string => `${runId} ${name}`;
const byKey = (a: StoredAttachment, b: StoredAttachment): number => (keyOf(a) < keyOf(b) ? -1 : 1);

@Injectable()
export class AttachmentsRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /**
   * The first content of a name is kept: clients send an attachment only once, except for retries. In the order of their keys, so
   * that uploads of the same attachments wait for each other and never deadlock.
   */
  async insertAttachments(manager: EntityManager, tenantId: TenantId, attachments: StoredAttachment[]): Promise<void> {
    for (const { runId, name, mimeType, size, objectKey, data } of [...attachments].sort(byKey)) {
      await manager.query(
        `INSERT INTO trace_attachments (tenant_id, run_id, name, mime_type, size, object_key, data)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (tenant_id, run_id, name) DO NOTHING`,
        [tenantId, runId, name, mimeType, size, objectKey, data],
      );
    }
    await this.keepNamed(
      manager,
      tenantId,
      attachments.map(({ objectKey }) => objectKey).filter((key) => key !== null),
    );
  }

  /** Names and types of these runs' attachments. */
  async listAttachments(
    tenantId: TenantId,
    runIds: string[],
  ): Promise<{ run_id: string; name: string; mime_type: string }[]> {
    return this.database.query(
      `SELECT run_id, name, mime_type FROM trace_attachments
       WHERE tenant_id = $1 AND run_id = ANY ($2::uuid[]) ORDER BY run_id, name`,
      [tenantId, runIds],
    );
  }

  async readAttachment(tenantId: TenantId, runId: string, name: string): Promise<AttachmentContent | undefined> {
    const rows = await this.database.query<AttachmentContent[]>(
      `SELECT mime_type, size, object_key, data FROM trace_attachments
       WHERE tenant_id = $1 AND run_id = $2 AND name = $3`,
      [tenantId, runId, name],
    );
    return rows[0];
  }

  /**
   * Called before objects are written, so that they are deleted after a day if no row names them. Ordered by key, so that
   * uploads of the same objects wait for each other and never deadlock.
   */
  async announce(tenantId: TenantId, objectKeys: string[]): Promise<void> {
    await this.database.query(
      `INSERT INTO trace_attachment_discards (tenant_id, object_key, discard_after)
       SELECT $1, key, now() + $3 * interval '1 second' FROM unnest($2::text[]) AS key ORDER BY key
       ON CONFLICT (tenant_id, object_key) DO UPDATE SET discard_after = EXCLUDED.discard_after`,
      [tenantId, [...new Set(objectKeys)], UPLOAD_SECONDS],
    );
  }

  /** An attachment whose bytes are still in its row, of any tenant. */
  async nextInline(): Promise<InlineAttachment | undefined> {
    const rows = await this.database.query<InlineAttachment[]>(
      `SELECT tenant_id, run_id, name, data FROM trace_attachments WHERE data IS NOT NULL LIMIT 1`,
    );
    return rows[0];
  }

  /** Records that the bytes of this row are in the object store now; a row that was deleted meanwhile stays deleted. */
  async moveOut(
    { tenant_id: tenantId, run_id: runId, name, data }: InlineAttachment,
    objectKey: string,
  ): Promise<void> {
    await this.database.transaction(async (manager) => {
      await manager.query(
        `UPDATE trace_attachments SET object_key = $4, size = $5, data = NULL
         WHERE tenant_id = $1 AND run_id = $2 AND name = $3 AND data IS NOT NULL`,
        [tenantId, runId, name, objectKey, data.length],
      );
      await this.keepNamed(manager, tenantId, [objectKey]);
    });
  }

  /**
   * Deletes due objects of all tenants, up to `limit`. A concurrent upload of one of them waits and then writes it again.
   * `discard` gets the objects that no row names, and returns the keys that it could not delete.
   * @returns how many were due
   */
  async discardDue(limit: number, discard: (objects: DiscardedObject[]) => Promise<Set<string>>): Promise<number> {
    return this.database.transaction(async (manager) => {
      const due = await manager.query<(DiscardedObject & { is_named: boolean })[]>(
        `SELECT d.tenant_id, d.object_key,
                EXISTS (SELECT FROM trace_attachments a
                        WHERE a.tenant_id = d.tenant_id AND a.object_key = d.object_key) AS is_named
         FROM trace_attachment_discards d WHERE d.discard_after <= now()
         ORDER BY d.discard_after LIMIT $1 FOR UPDATE SKIP LOCKED`,
        [limit],
      );
      if (due.length === 0) return 0;
      const kept = await discard(due.filter(({ is_named: isNamed }) => !isNamed));
      const keysOf = (objects: DiscardedObject[]): string[][] => [
        objects.map((object) => object.tenant_id),
        objects.map((object) => object.object_key),
      ];
      await manager.query(
        `DELETE FROM trace_attachment_discards d USING unnest($1::uuid[], $2::text[]) AS v (tenant_id, object_key)
         WHERE d.tenant_id = v.tenant_id AND d.object_key = v.object_key`,
        keysOf(due.filter((object) => !kept.has(object.object_key))),
      );
      await manager.query(
        `UPDATE trace_attachment_discards d SET discard_after = now() + $3 * interval '1 second'
         FROM unnest($1::uuid[], $2::text[]) AS v (tenant_id, object_key)
         WHERE d.tenant_id = v.tenant_id AND d.object_key = v.object_key`,
        [...keysOf(due.filter((object) => kept.has(object.object_key))), RETRY_SECONDS],
      );
      return due.length;
    });
  }

  /**
   * Called in the transaction that inserts the rows. An object that lost to an earlier content of its name stays due for
   * deletion.
   */
  private async keepNamed(manager: EntityManager, tenantId: TenantId, objectKeys: string[]): Promise<void> {
    if (objectKeys.length === 0) return;
    await manager.query(
      `DELETE FROM trace_attachment_discards d
       WHERE d.tenant_id = $1 AND d.object_key = ANY ($2::text[])
         AND EXISTS (SELECT FROM trace_attachments a WHERE a.tenant_id = $1 AND a.object_key = d.object_key)`,
      [tenantId, objectKeys],
    );
  }
}
