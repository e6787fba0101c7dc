import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/config';
import { GENESIS, hashOf, type Link, type SealedContent } from './audit-chain';
import { AuditChainRepository } from './audit-chain.repository';
import { auditChainKey } from './audit-chain-key';

const PAGE = 2_000;
/** Maximum of records in a report: the first ones show the problem. */
const MAX_PROBLEMS = 100;
/** Time after which a record without a link means that no worker is running. */
const SEALED_AFTER_MS = 10 * 60_000;

export interface AuditReport {
  verified: boolean;
  /** Records whose content matches the chain. */
  records: number;
  /** `position:hash` of the last link; null while there is none. Kept elsewhere, it proves later that nothing was cut off. */
  head: string | null;
  problems: string[];
}

interface Walk {
  last: Pick<Link, 'position' | 'hash'>;
  records: number;
  problems: string[];
  /** Hash at the position that the caller knows the head of. */
  known?: string;
}

/** Verifies that the audit log was not changed. */
@Injectable()
export class AuditVerificationService {
  private readonly key: Buffer;

  constructor(
    private readonly chain: AuditChainRepository,
    private readonly config: AppConfig,
  ) {
    this.key = auditChainKey(config);
  }

  /** @param expectedHead `position:hash` of an earlier report */
  async verify(expectedHead?: string): Promise<AuditReport> {
    const walk: Walk = { last: GENESIS, records: 0, problems: [] };
    const expectedPosition = Number(expectedHead?.split(':')[0]);
    for (;;) {
      const page = await this.chain.page(walk.last.position, PAGE);
      for (const { content, ...link } of page) {
        this.check(walk, link, content);
        walk.last = link;
        if (link.position === expectedPosition) walk.known = toHead(link);
      }
      if (page.length < PAGE) break;
    }
    if (expectedHead !== undefined && walk.known !== expectedHead) {
      walk.problems.push(`The log does not contain the head ${expectedHead}: it was truncated or rewritten`);
    }
    const unsealed = await this.chain.countUnsealed(new Date(Date.now() - SEALED_AFTER_MS));
    if (unsealed > 0) walk.problems.push(`${unsealed} records have no link: a link was removed, or no worker runs`);
    const { records, problems, last } = walk;
    return {
      verified: problems.length === 0,
      records,
      head: last.position === 0 ? null : toHead(last),
      problems: problems.slice(0, MAX_PROBLEMS),
    };
  }

  private check(walk: Walk, link: Omit<Link, 'content'>, content: SealedContent | null): void {
    const { last, problems } = walk;
    if (last === GENESIS && link.position > 1) {
      // The retention deletes from the front, and leaves the link that the next one continues from.
      const expired = Date.now() - Date.parse(link.sealedAt) >= this.config.audit.retentionMs;
      if (content !== null || !expired) problems.push(`Records before position ${link.position} are missing`);
      return;
    }
    if (link.position !== last.position + 1) {
      problems.push(`The links from position ${last.position + 1} to ${link.position - 1} are missing`);
    } else if (content === null) {
      problems.push(`The record ${link.auditId} (position ${link.position}) is missing`);
    } else if (!hashOf(this.key, last.hash, link, content).equals(link.hash)) {
      problems.push(`The record ${link.auditId} (position ${link.position}) is not as it was written`);
    } else {
      walk.records += 1;
    }
  }
}

function toHead({ position, hash }: Pick<Link, 'position' | 'hash'>): string {
  return `${position}:${hash.toString('hex')}`;
}
