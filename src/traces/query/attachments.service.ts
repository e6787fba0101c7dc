import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { AppConfig } from '../../config/config';
import { inScope } from '../../database/request-scope';
import { AttachmentsRepository } from '../ingest/attachments.repository';
import { traceErrors } from '../trace.errors';
import type { AttachmentLinks } from './trace-run.mapper';

/** Clients follow a link at once, while they list. */
const LINK_LIFETIME_SECONDS = 3600;

/** Attachments are read by links that carry their own permission, as those of an object store. */
@Injectable()
export class AttachmentsService {
  constructor(
    private readonly config: AppConfig,
    private readonly attachments: AttachmentsRepository,
  ) {}

  async links(tenantId: TenantId, runIds: string[], origin: string): Promise<Map<string, AttachmentLinks>> {
    const links = new Map<string, AttachmentLinks>();
    if (runIds.length === 0) return links;
    const expires = Math.floor(Date.now() / 1000) + LINK_LIFETIME_SECONDS;
    for (const { run_id: runId, name, mime_type: mimeType } of await this.attachments.list(tenantId, runIds)) {
      const signature = this.sign(tenantId, runId, name, expires);
      const path = `/api/v1/attachments/${tenantId}/${runId}/${encodeURIComponent(name)}`;
      const url = `${origin}${path}?expires=${expires}&signature=${signature}`;
      links.set(runId, [...(links.get(runId) ?? []), { name, mimeType, url }]);
    }
    return links;
  }

  /** @throws {ApiError} 404 also for a link that is wrong or too old: it tells nothing about what is there. */
  async read(
    tenantId: string,
    runId: string,
    name: string,
    permission: { expires: number; signature: string },
  ): Promise<{ mimeType: string; data: Buffer }> {
    const expected = Buffer.from(this.sign(tenantId, runId, name, permission.expires));
    const given = Buffer.from(permission.signature);
    const valid = given.length === expected.length && timingSafeEqual(given, expected);
    if (!valid || permission.expires < Date.now() / 1000) throw traceErrors.attachmentNotFound();
    // The route is public, and the link has just shown whose rows it is good for.
    const found = await inScope({ tenantId }, () => this.attachments.read(tenantId as TenantId, runId, name));
    if (!found) throw traceErrors.attachmentNotFound();
    return { mimeType: found.mime_type, data: found.data };
  }

  private sign(tenantId: string, runId: string, name: string, expires: number): string {
    return createHmac('sha256', this.config.secretKey)
      .update(`attachment:${tenantId}:${runId}:${expires}:${name}`)
      .digest('base64url');
  }
}
