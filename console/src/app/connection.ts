import { API_URL } from './base';
import { ExternalStore } from './external-store';

const ASK_AGAIN_MS = 2_000;
/** Interval at which the server is asked in any case, and the longest pause of a lost connection. */
const WATCH_MS = 15_000;
/** Time before the server is asked about a doubt: once for all requests that a page has sent together. */
const DOUBT_MS = 500;

/** Time of the first request that didn't reach the server; undefined while it answers. */
export const lostSince = new ExternalStore<number | undefined>(undefined);

let timer: ReturnType<typeof setTimeout> | undefined;
let pauseMs = ASK_AGAIN_MS;
/** Time of the end of the last loss. */
let foundAt = -Infinity;

/**
 * Asks the server whether it is there. Its answer alone ends a loss: where some requests succeed and others don't, each
 * one that succeeds would end it, and pages that read everything again would lose the connection again at once.
 */
async function ask(): Promise<void> {
  const isThere = await fetch(`${API_URL}/ok`).then(isOfServer, () => false);
  if (!isThere) return noteLost();
  if (lostSince.get() !== undefined) foundAt = Date.now();
  lostSince.set(undefined);
}

/**
 * Whether an answer to that says that the server is there: also a refusal, such as that of too many requests. A 404 is
 * none of its answers.
 */
const isOfServer = ({ status }: Response): boolean => status < 500 && status !== 404;

function askIn(ms: number): void {
  timer ??= setTimeout(() => {
    timer = undefined;
    void ask();
  }, ms);
}

/**
 * Called when a request did not reach the server: asks until it answers again. Losses in quick succession have longer
 * pauses, since reading pages again may be what causes them.
 */
export function noteLost(): void {
  if (lostSince.get() === undefined) {
    const now = Date.now();
    pauseMs = now - foundAt < WATCH_MS ? Math.min(2 * pauseMs, WATCH_MS) : ASK_AGAIN_MS;
    clearTimeout(timer);
    timer = undefined;
    lostSince.set(now);
  }
  askIn(pauseMs);
}

/**
 * Called when a proxy has answered in the server's place, or when a stream broke. That may concern one request alone:
 * the connection is lost if the server doesn't answer another one either.
 */
export function noteDoubt(): void {
  if (lostSince.get() === undefined) askIn(DOUBT_MS);
}

/** Resolves after a pause in which a loss is noticed, once the server answers, or when the signal is aborted. */
export function untilReached(signal: AbortSignal): Promise<void> {
  noteDoubt();
  return new Promise((resolve) => {
    let isPaused = true;
    const look = (): void => {
      if (!isPaused && lostSince.get() === undefined) end();
    };
    const pause = setTimeout(() => {
      isPaused = false;
      look();
    }, ASK_AGAIN_MS);
    const unsubscribe = lostSince.subscribe(look);
    const end = (): void => {
      clearTimeout(pause);
      unsubscribe();
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}

/**
 * Asks the server at intervals, for pages whose data doesn't change, and when the browser reports a change of the
 * connection.
 */
export function watchConnection(): () => void {
  const interval = setInterval(() => document.visibilityState === 'visible' && void ask(), WATCH_MS);
  const check = (): void => void ask();
  addEventListener('offline', check);
  addEventListener('online', check);
  return () => {
    clearInterval(interval);
    removeEventListener('offline', check);
    removeEventListener('online', check);
  };
}
