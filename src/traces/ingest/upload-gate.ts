import pLimit from 'p-limit';
import { traceErrors } from '../trace.errors';

/** Clients abandon an upload after 10 s; the answer that asks them to retry must come before. */
const WAIT_MS = 8_000;
/** Limit of waiting uploads, whose bodies are in memory. */
const MAX_WAITING = 200;

/** Limits concurrent uploads; others wait for a short time. */
export class UploadGate {
  private readonly limit: ReturnType<typeof pLimit>;

  constructor(concurrency: number) {
    this.limit = pLimit(concurrency);
  }

  /**
   * Runs work when its turn has come.
   * @throws {ApiError} 503 when that takes too long or too many wait; the work has not begun then
   */
  run<T>(work: () => Promise<T>): Promise<T> {
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
