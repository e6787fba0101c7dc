import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../metrics/metrics';
import { type ExpiredThread, IS_PRUNABLE, ThreadExpiryRepository } from './thread-expiry.repository';
import { ThreadsRepository } from './threads.repository';

/** Threads that one statement deletes: enough to keep up, few enough to hold no lock for long. */
const BATCH = 100;

export interface ExpiryCounts {
  deleted: number;
  pruned: number;
  failed: number;
}

/** Deletes expired threads, or prunes them to their latest state. */
@Injectable()
export class ThreadExpiryService {
  private readonly logger = new Logger(ThreadExpiryService.name);
  private readonly expired;

  constructor(
    private readonly expiry: ThreadExpiryRepository,
    private readonly threads: ThreadsRepository,
    metrics: Metrics,
  ) {
    this.expired = metrics.counter({
      name: 'gantry_threads_expired_total',
      help: 'Expired threads, by what was done with them',
      labelNames: ['strategy'],
    });
  }

  /**
   * Processes up to `limit` threads, in the order of their expiry. A thread that is used meanwhile is skipped; a failure is
   * logged and counted, and the others continue. After the signal, the rest is left to the next search.
   */
  async expire(limit: number, signal: AbortSignal): Promise<ExpiryCounts> {
    const found = await this.expiry.findExpired(limit);
    const counts = { deleted: 0, pruned: 0, failed: 0 };
    const toDelete = found.filter(({ strategy }) => strategy === 'delete');
    for (let start = 0; start < toDelete.length && !signal.aborted; start += BATCH) {
      counts.deleted += await this.expiry.deleteIfExpired(toDelete.slice(start, start + BATCH));
    }
    this.expired.inc({ strategy: 'delete' }, counts.deleted);
    for (const thread of found.filter(({ strategy }) => strategy === 'keep_latest')) {
      if (signal.aborted) break;
      await this.prune(thread, counts);
    }
    return counts;
  }

  private async prune({ tenantId, threadId }: ExpiredThread, counts: ExpiryCounts): Promise<void> {
    try {
      if (!(await this.threads.keepLatest(tenantId, threadId, IS_PRUNABLE))) return;
      counts.pruned += 1;
      this.expired.inc({ strategy: 'keep_latest' });
    } catch (error) {
      counts.failed += 1;
      this.logger.error({ err: error, threadId, tenantId }, 'A thread could not be pruned to its latest state');
    }
  }
}
