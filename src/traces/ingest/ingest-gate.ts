import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { AppConfig } from '../../config/config';
import { traceErrors } from '../trace.errors';

/** Clients give an upload up after 10 s: the answer must come before, and with it the wish to try again. */
const WAIT_MS = 8_000;
/** Beyond that, bodies would fill the memory. */
const MAX_WAITING = 200;

/**
 * Lets uploads of traces have half of the database's connections at the most: while their tables are slow or locked, runs
 * and everything else go on with the others.
 */
@Injectable()
export class IngestGate {
  private readonly limit: ReturnType<typeof pLimit>;

  constructor(config: AppConfig) {
    this.limit = pLimit(Math.ceil(config.databasePool / 2));
  }

  /**
   * Writes when its turn has come.
   * @throws {ApiError} 503 when that takes too long, or too many wait: then nothing was begun
   */
  write<T>(work: () => Promise<T>): Promise<T> {
    if (this.limit.pendingCount >= MAX_WAITING) return Promise.reject(traceErrors.storeBusy());
    return new Promise((resolve, reject) => {
      let hasGivenUp = false;
      const timer = setTimeout(() => {
        hasGivenUp = true;
        reject(traceErrors.storeBusy());
      }, WAIT_MS);
      void this.limit(async () => {
        if (hasGivenUp) return;
        clearTimeout(timer);
        await work().then(resolve, reject);
      });
    });
  }
}
