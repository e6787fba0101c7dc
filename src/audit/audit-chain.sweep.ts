import { Injectable, Logger } from '@nestjs/common';
import { AppConfig } from '../config/config';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { GENESIS, hashOf, type Link, type SealedContent } from './audit-chain';
import { AuditChainRepository } from './audit-chain.repository';
import { auditChainKey } from './audit-chain-key';

/** Records that one statement seals. */
const BATCH = 2_000;
/** Batches of one round: a backlog must not keep the other sweeps waiting. */
const MAX_BATCHES = 10;
/** Range of ids that is searched again, since concurrent records may be committed in another order than that of their ids. */
const OVERLAP = 1_000n;
/** Interval at which all records are searched, for those that are committed even later. */
const LOOK_AT_ALL_MS = 5 * 60_000;
/** Interval at which the head is logged if it has moved, since logs can't be changed in the database. */
const LOG_HEAD_MS = 3_600_000;

/**
 * Gives each record of the audit log its link in the chain, some seconds after the commit: a transaction that had to wait for
 * the one before it would cost more than the record.
 */
@Injectable()
@Sweeps(110)
export class AuditChainSweep implements Sweep {
  readonly name = 'audit-chain';
  private readonly logger = new Logger('Audit');
  private readonly key: Buffer;
  /** Id of the newest record that has a link. */
  private newest = 0n;
  private nextLookAtAll = 0;
  private nextHeadLog = 0;

  constructor(
    private readonly chain: AuditChainRepository,
    config: AppConfig,
  ) {
    this.key = auditChainKey(config);
  }

  async sweep(): Promise<void> {
    const looksAtAll = performance.now() >= this.nextLookAtAll;
    const from = looksAtAll ? 0n : this.newest - OVERLAP;
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      const records = await this.chain.unsealed(String(from), BATCH);
      if (records.length > 0) await this.seal(records);
      if (records.length < BATCH) {
        if (looksAtAll) await this.allAreSealed();
        return;
      }
    }
  }

  private async seal(records: SealedContent[]): Promise<void> {
    let last: Pick<Link, 'position' | 'hash'> = (await this.chain.head()) ?? GENESIS;
    // As Postgres prints it: with microseconds.
    const sealedAt = new Date().toISOString().replace('Z', '000Z');
    const links = records.map((content): Link => {
      const place = { position: last.position + 1, sealedAt };
      const link = { ...place, auditId: content.auditId, hash: hashOf(this.key, last.hash, place, content) };
      last = link;
      return link;
    });
    await this.chain.append(links);
    this.noteSealed(links[links.length - 1]);
    this.logHead(links[links.length - 1]);
  }

  private async allAreSealed(): Promise<void> {
    this.nextLookAtAll = performance.now() + LOOK_AT_ALL_MS;
    const head = await this.chain.head();
    if (head) this.noteSealed(head);
  }

  private noteSealed({ auditId }: Link): void {
    const sealed = BigInt(auditId);
    if (sealed > this.newest) this.newest = sealed;
  }

  private logHead({ position, hash }: Link): void {
    if (performance.now() < this.nextHeadLog) return;
    this.nextHeadLog = performance.now() + LOG_HEAD_MS;
    this.logger.log({ head: `${position}:${hash.toString('hex')}` }, 'The audit log is sealed up to this head');
  }
}
