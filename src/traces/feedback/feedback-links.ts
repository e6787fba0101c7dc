import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { TenantId } from '../../auth/tenant';
import { AppConfig } from '../../config/config';
import { readClaim, signClaim } from '../../crypto/signed-claim';

/** Lifetime of a link: as long as people take to answer "was this helpful?". */
const VALID_MS = 7 * 86_400_000;

const claimSchema = z.object({ tenant: z.string(), run: z.guid(), key: z.string(), until: z.number() });

/** Permission of a link: feedback on one run, under one key. */
export interface FeedbackClaim {
  tenantId: TenantId;
  runId: string;
  key: string;
}

/**
 * Links with which people without a key can leave feedback on a run. They are signed and not stored: the same run and key have
 * the same link, on every replica, for a week from the run's creation.
 */
@Injectable()
export class FeedbackLinks {
  private readonly base: string;
  private readonly secret: Buffer;

  constructor(config: AppConfig) {
    this.base = config.http.apiUrl;
    this.secret = createHmac('sha256', config.secrets.key).update('feedback-links').digest();
  }

  /** Key → link. */
  of(tenantId: string, runId: string, createdAt: Date, keys: string[]): Record<string, string> {
    const until = createdAt.getTime() + VALID_MS;
    return Object.fromEntries(
      keys.map((key) => [
        key,
        `${this.base}/feedback/tokens/${this.sign(JSON.stringify({ tenant: tenantId, run: runId, key, until }))}`,
      ]),
    );
  }

  /** The permission of a token; undefined if it was not issued here, was changed, or has expired. */
  open(token: string): FeedbackClaim | undefined {
    const payload = readClaim(this.secret, token);
    if (payload === undefined) return undefined;
    const { tenant, run, key, until } = claimSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    return until < Date.now() ? undefined : { tenantId: tenant as TenantId, runId: run, key };
  }

  private sign(claim: string): string {
    return signClaim(this.secret, Buffer.from(claim).toString('base64url'));
  }
}
