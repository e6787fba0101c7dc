import pLimit from 'p-limit';
import { traceErrors } from '../trace.errors';

/** Clients give an upload up after 10 s: the answer must come before, and with it the request to try again. */
const WAIT_MS = 8_000;
/** Beyond that, bodies would fill the memory. */
const MAX_WAITING = 200;

/** Lets a few uploads do something at once; the others wait for their turn, and not for long. */
export class UploadGate {
  private readonly limit: ReturnType<typeof pLimit>;

  constructor(concurrency: number) {
    this.limit = pLimit(concurrency);
  }

  /**
   * Does the work when its turn has come.
   * @throws {ApiError} 503 when that takes too long, or too many wait: then nothing was begun
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
