import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../auth/tenant';
import { SEALED_FIELDS } from '../../crypto/sealed-fields';
import { AppConfig } from '../../config/config';
import { Instant, instantOf } from '../instant';
import { LinkTokens } from '../link-tokens';
import { storing } from '../storing';
import { traceErrors } from '../trace.errors';
import type { CreateFeedbackToken } from './feedback.schemas';
import { FeedbackLinkRow, NewFeedbackLink, PresignedFeedbackRepository } from './presigned-feedback.repository';

const MINUTE_MS = 60_000;
const DEFAULT_MINUTES = 180;

/** A link as its creator sees it. */
export interface FeedbackToken {
  /** The token; clients leave feedback with it or with the URL. */
  id: string;
  url: string;
  expires_at: Instant;
}

/** Links by which people without an API key leave feedback on one run, under one key, until they expire. */
@Injectable()
export class PresignedFeedbackService {
  constructor(
    private readonly config: AppConfig,
    private readonly links: PresignedFeedbackRepository,
    private readonly tokens: LinkTokens,
  ) {}

  /** @throws {ApiError} 422 for an expiry in the past */
  async createLinks(tenantId: TenantId, requests: CreateFeedbackToken[]): Promise<FeedbackToken[]> {
    const made: FeedbackToken[] = [];
    const rows = requests.map((request): NewFeedbackLink => {
      const linkId = uuidv7();
      const { token, ...stored } = this.tokens.create(SEALED_FIELDS.feedbackLinkToken.context(tenantId, linkId));
      const expiresAt = expiryOf(request);
      made.push(this.show(token, expiresAt));
      return {
        link_id: linkId,
        run_id: request.run_id,
        key: request.feedback_key,
        feedback_id: request.id ?? randomUUID(),
        feedback_config: request.feedback_config,
        expires_at: expiresAt,
        ...stored,
      };
    });
    await storing(() => this.links.insertLinks(tenantId, rows));
    return made;
  }

  async listLinks(tenantId: TenantId, runId: string, limit: number, offset: number): Promise<FeedbackToken[]> {
    const rows = await this.links.listLinks(tenantId, runId, limit, offset);
    return rows.map((row) =>
      this.show(
        this.tokens.open(row.sealed_token, SEALED_FIELDS.feedbackLinkToken.context(tenantId, row.link_id)),
        row.expires_at,
      ),
    );
  }

  /** Undefined for an invalid or expired token. */
  openLink(token: string): Promise<FeedbackLinkRow | undefined> {
    return this.links.findByToken(this.tokens.hashOf(token));
  }

  private show(token: string, expiresAt: Instant): FeedbackToken {
    return { id: token, url: `${this.config.http.apiUrl}/feedback/tokens/${token}`, expires_at: expiresAt };
  }
}

function expiryOf({ expires_at: at, expires_in: period }: CreateFeedbackToken): Instant {
  const now = instantOf(new Date());
  if (at) {
    if (at <= now) throw traceErrors.invalid('expires_at', 'must be in the future');
    return at;
  }
  const { days = 0, hours = 0, minutes = 0 } = period ?? { minutes: DEFAULT_MINUTES };
  const total = (days * 24 + hours) * 60 + minutes;
  if (total <= 0) throw traceErrors.invalid('expires_in', 'must be positive');
  return instantOf(new Date(Date.now() + total * MINUTE_MS));
}
