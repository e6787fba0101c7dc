import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../auth/tenant';
import { SEALED_FIELDS } from '../../crypto/sealed-fields';
import { AppConfig } from '../../config/config';
import { LinkTokens } from '../link-tokens';
import { traceErrors } from '../trace.errors';
import { ShareRow, SharesRepository, ShareSubject } from './shares.repository';

/** Public links to traces and threads: makes, shows and revokes them. GANTRY_TRACE_SHARING switches them off. */
@Injectable()
export class SharesService {
  constructor(
    private readonly config: AppConfig,
    private readonly shares: SharesRepository,
    private readonly tokens: LinkTokens,
  ) {}

  /** The token of the subject's link; what is shared already keeps the one that it has. @throws {ApiError} 403 */
  async share(tenantId: TenantId, subject: ShareSubject): Promise<string> {
    if (!this.config.traces.sharing) throw traceErrors.sharingOff();
    const shareId = uuidv7();
    const { token, ...stored } = this.tokens.create(SEALED_FIELDS.shareToken.context(tenantId, shareId));
    if (await this.shares.insert(tenantId, shareId, subject, stored)) return token;
    const existing = await this.shares.find(tenantId, subject);
    // It was revoked in this moment.
    if (!existing) return this.share(tenantId, subject);
    return this.tokenOf(existing);
  }

  /** Undefined for what is not shared, and while sharing is switched off. */
  async find(tenantId: TenantId, subject: ShareSubject): Promise<string | undefined> {
    if (!this.config.traces.sharing) return undefined;
    const share = await this.shares.find(tenantId, subject);
    return share && this.tokenOf(share);
  }

  /** Root run id → token. */
  async ofTraces(tenantId: TenantId, traceIds: string[]): Promise<Map<string, string>> {
    if (!this.config.traces.sharing || traceIds.length === 0) return new Map();
    const shares = await this.shares.ofRuns(tenantId, traceIds);
    return new Map(shares.map((share) => [share.run_id ?? '', this.tokenOf(share)]));
  }

  /** Succeeds as well for what is not shared. */
  async revoke(tenantId: TenantId, subject: ShareSubject): Promise<void> {
    await this.shares.delete(tenantId, subject);
  }

  /** What a token shows. @throws {ApiError} 404 */
  async open(token: string): Promise<ShareRow> {
    const share = this.config.traces.sharing ? await this.shares.findByToken(this.tokens.hashOf(token)) : undefined;
    if (!share) throw traceErrors.shareNotFound();
    return share;
  }

  private tokenOf({ tenant_id: tenantId, share_id: shareId, sealed_token: sealed }: ShareRow): string {
    return this.tokens.open(sealed, SEALED_FIELDS.shareToken.context(tenantId, shareId));
  }
}
