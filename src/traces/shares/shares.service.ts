import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../auth/tenant';
import { SEALED_FIELDS } from '../../crypto/sealed-fields';
import { AppConfig } from '../../config/config';
import { LinkTokens } from '../link-tokens';
import { traceErrors } from '../trace.errors';
import { ShareRow, SharesRepository, ShareSubject } from './shares.repository';

/** Creates, shows and revokes public links to traces and threads. GANTRY_TRACE_SHARING switches them off. */
@Injectable()
export class SharesService {
  constructor(
    private readonly config: AppConfig,
    private readonly shares: SharesRepository,
    private readonly tokens: LinkTokens,
  ) {}

  /** Returns the token of the subject's link, which stays the same if it is shared already. @throws {ApiError} 403 */
  async share(tenantId: TenantId, subject: ShareSubject): Promise<string> {
    if (!this.config.traces.sharing) throw traceErrors.sharingOff();
    const shareId = uuidv7();
    const { token, ...stored } = this.tokens.create(SEALED_FIELDS.shareToken.context(tenantId, shareId));
    if (await this.shares.insertShare(tenantId, shareId, subject, stored)) return token;
    const existing = await this.shares.findShare(tenantId, subject);
    // It has just been revoked.
    if (!existing) return this.share(tenantId, subject);
    return this.tokenOf(existing);
  }

  /** Undefined if the subject is not shared, and while sharing is switched off. */
  async findToken(tenantId: TenantId, subject: ShareSubject): Promise<string | undefined> {
    if (!this.config.traces.sharing) return undefined;
    const share = await this.shares.findShare(tenantId, subject);
    return share && this.tokenOf(share);
  }

  /** Root run id → token. */
  async ofTraces(tenantId: TenantId, traceIds: string[]): Promise<Map<string, string>> {
    if (!this.config.traces.sharing || traceIds.length === 0) return new Map();
    const shares = await this.shares.ofRuns(tenantId, traceIds);
    return new Map(shares.map((share) => [share.run_id ?? '', this.tokenOf(share)]));
  }

  /** Also succeeds if the subject is not shared. */
  async revokeShare(tenantId: TenantId, subject: ShareSubject): Promise<void> {
    await this.shares.deleteShare(tenantId, subject);
  }

  /** The subject of a token. @throws {ApiError} 404 */
  async openShare(token: string): Promise<ShareRow> {
    const share = this.config.traces.sharing ? await this.shares.findByToken(this.tokens.hashOf(token)) : undefined;
    if (!share) throw traceErrors.shareNotFound();
    return share;
  }

  private tokenOf({ tenant_id: tenantId, share_id: shareId, sealed_token: sealed }: ShareRow): string {
    return this.tokens.open(sealed, SEALED_FIELDS.shareToken.context(tenantId, shareId));
  }
}
