import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import { errorCode } from './error-code';

/** The name has no address now. `temporary`: the name servers failed to answer. */
export class ResolutionError extends Error {
  constructor(readonly temporary: boolean) {
    super(temporary ? 'The name servers did not answer' : 'The name has no address');
    this.name = 'ResolutionError';
  }
}

/** 1.5 s and then 3 s, so that an unanswered query ends before the time limit of the connection. */
const QUERY = { timeout: 1_500, tries: 2 };
const UNANSWERED = new Set(['ETIMEOUT', 'ECANCELLED']);

/**
 * Resolves names to addresses. DNS is queried without the system's resolver, which blocks one of the process's four I/O threads
 * for each unanswered query: dead name servers of one receiver would delay all others. Names that DNS doesn't know (the hosts
 * file, search domains of a cluster) then go through the system's resolver.
 */
@Injectable()
export class WebhookResolver {
  protected readonly dns = new Resolver(QUERY);

  /** @throws {ResolutionError} */
  async resolve(hostname: string): Promise<LookupAddress[]> {
    const answers = await Promise.allSettled([this.dns.resolve4(hostname), this.dns.resolve6(hostname)]);
    const found = answers.flatMap((answer, index) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    );
    if (found.length > 0) return found;
    if (answers.some((answer) => answer.status === 'rejected' && UNANSWERED.has(errorCode(answer.reason)))) {
      throw new ResolutionError(true);
    }
    try {
      return await lookup(hostname, { all: true });
    } catch (error) {
      throw new ResolutionError(errorCode(error) === 'EAI_AGAIN');
    }
  }
}
