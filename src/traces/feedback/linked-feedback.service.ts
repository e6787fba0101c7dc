import { Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import type { TenantId } from '../../auth/tenant';
import { inScope } from '../../database/request-scope';
import { traceErrors } from '../trace.errors';
import { FeedbackLinks } from './feedback-links';
import type { LinkedFeedback } from './feedback.schemas';
import { FeedbackService } from './feedback.service';
import { PresignedFeedbackService } from './presigned-feedback.service';

/** Namespace of the ids of such feedback: one id per link, so that a second click corrects the first. */
const LINK_NAMESPACE = '0b5f4a52-3f2c-4c0e-9a55-6f1f2c1d7e90';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Permission of a link: feedback on one run, under one key. */
interface Permission {
  tenantId: TenantId;
  runId: string;
  key: string;
  feedbackId: string;
  config?: unknown;
}

@Injectable()
export class LinkedFeedbackService {
  constructor(
    private readonly links: FeedbackLinks,
    private readonly presigned: PresignedFeedbackService,
    private readonly feedback: FeedbackService,
  ) {}

  /** @throws 404 for an invalid or expired link */
  async leave(token: string, { metadata, ...said }: LinkedFeedback): Promise<void> {
    const permission = UUID.test(token) ? await this.openStored(token) : this.openSigned(token);
    if (!permission) throw traceErrors.feedbackLinkInvalid();
    const { tenantId, runId, key, feedbackId: id, config } = permission;
    const source = { type: 'link', ...(metadata && { metadata }) };
    // The route is public; the token determines access and tenant.
    await inScope({ tenantId }, () =>
      this.feedback.createFeedback(tenantId, {
        ...said,
        id,
        run_id: runId,
        key,
        feedback_source: source,
        ...(config != null && { feedback_config: config }),
      }),
    );
  }

  private openSigned(token: string): Permission | undefined {
    const claim = this.links.open(token);
    if (!claim) return undefined;
    const { tenantId, runId, key } = claim;
    return { tenantId, runId, key, feedbackId: uuidv5(`${tenantId}/${runId}/${key}`, LINK_NAMESPACE) };
  }

  private async openStored(token: string): Promise<Permission | undefined> {
    const link = await this.presigned.openLink(token);
    return (
      link && {
        tenantId: link.tenant_id,
        runId: link.run_id,
        key: link.key,
        feedbackId: link.feedback_id,
        config: link.feedback_config,
      }
    );
  }
}
