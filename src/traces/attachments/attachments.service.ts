import { createHmac } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import type { EntityManager } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { AppConfig } from '../../config/config';
import { isSame } from '../../crypto/is-same';
import { inScope } from '../../database/request-scope';
import type { AttachmentLinks } from '../query/trace-run.mapper';
import { traceErrors } from '../trace.errors';
import type { Content } from '../../storage/object-store';
import { AttachmentStore } from './attachment-store';
import { AttachmentsRepository, StoredAttachment } from './attachments.repository';
import { mediaTypeOf } from './media-type';

/** Clients follow a link at once, while they list. */
const LINK_LIFETIME_SECONDS = 3600;

/** Objects of one upload that are written at once. */
const CONCURRENCY = 8;

/** An attachment of an upload. */
export interface Attachment {
  runId: string;
  name: string;
  mimeType: string;
  content: Content;
}

/**
 * Writes attachments before their upload is acknowledged, and reads them by links that are permissions, like presigned URLs.
 */
@Injectable()
export class AttachmentsService {
  constructor(
    private readonly config: AppConfig,
    private readonly store: AttachmentStore,
    private readonly attachments: AttachmentsRepository,
  ) {}

  /**
   * Writes the bytes to the object store. Rows name them once `insert` has committed; otherwise they are deleted a day later. A
   * replay writes the same objects.
   * @throws {ApiError} 503 when the store doesn't accept one in time
   */
  async writeAttachments(tenantId: TenantId, attachments: Attachment[]): Promise<StoredAttachment[]> {
    if (attachments.length === 0) return [];
    if (!this.store.isConfigured) {
      return attachments.map(({ content, ...attachment }) => ({
        ...attachment,
        size: content.size,
        objectKey: null,
        data: Buffer.concat(content.pieces),
      }));
    }
    const keyed = attachments.map((attachment) => ({
      attachment,
      objectKey: this.store.keyOf(tenantId, attachment.runId, attachment.content),
    }));
    await this.attachments.announce(
      tenantId,
      keyed.map(({ objectKey }) => objectKey),
    );
    const limit = pLimit(CONCURRENCY);
    try {
      await limit.map(keyed, ({ attachment, objectKey }) => this.store.putAttachment(objectKey, attachment.content));
    } finally {
      // After a failure, the others don't begin.
      limit.clearQueue();
    }
    return keyed.map(({ attachment: { content, ...attachment }, objectKey }) => ({
      ...attachment,
      size: content.size,
      objectKey,
      data: null,
    }));
  }

  /** Inserts the rows in the transaction of the upload. */
  async insert(manager: EntityManager, tenantId: TenantId, attachments: StoredAttachment[]): Promise<void> {
    await this.attachments.insertAttachments(manager, tenantId, attachments);
  }

  async links(tenantId: TenantId, runIds: string[], origin: string): Promise<Map<string, AttachmentLinks>> {
    const links = new Map<string, AttachmentLinks>();
    if (runIds.length === 0) return links;
    const expires = Math.floor(Date.now() / 1000) + LINK_LIFETIME_SECONDS;
    for (const { run_id: runId, name, mime_type: mimeType } of await this.attachments.listAttachments(
      tenantId,
      runIds,
    )) {
      const signature = this.sign(tenantId, runId, name, expires);
      const path = `/api/v1/attachments/${tenantId}/${runId}/${encodeURIComponent(name)}`;
      const url = `${origin}${path}?expires=${expires}&signature=${signature}`;
      links.set(runId, [...(links.get(runId) ?? []), { name, mimeType, url }]);
    }
    return links;
  }

  /**
   * @throws {ApiError} 404 also for an invalid or expired link, so that the answer doesn't show what exists; 503 while the
   *   object store doesn't answer
   */
  async readAttachment(
    tenantId: string,
    runId: string,
    name: string,
    permission: { expires: number; signature: string },
  ): Promise<{ mimeType: string; size: number | undefined; body: Buffer | Readable }> {
    const expected = this.sign(tenantId, runId, name, permission.expires);
    if (!isSame(permission.signature, expected) || permission.expires < Date.now() / 1000)
      throw traceErrors.attachmentNotFound();
    // The route is public; the verified link determines the tenant.
    const found = await inScope({ tenantId }, () => this.attachments.readAttachment(tenantId as TenantId, runId, name));
    const body = found?.object_key ? await this.store.readAttachment(found.object_key) : found?.data;
    if (!found || !body) throw traceErrors.attachmentNotFound();
    return { mimeType: mediaTypeOf(found.mime_type), size: found.size === null ? undefined : Number(found.size), body };
  }

  private sign(tenantId: string, runId: string, name: string, expires: number): string {
    return createHmac('sha256', this.config.secrets.key)
      .update(`attachment:${tenantId}:${runId}:${expires}:${name}`)
      .digest('base64url');
  }
}
