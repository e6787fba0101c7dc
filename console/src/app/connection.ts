import { API_URL } from './base';
import { ExternalStore } from './external-store';

const ASK_AGAIN_MS = 2_000;
const WATCH_MS = 15_000;

/** Time of the first request that didn't reach the server; undefined while it answers. */
export const lostSince = new ExternalStore<number | undefined>(undefined);

let asking: ReturnType<typeof setTimeout> | undefined;

async function ask(): Promise<void> {
  asking = undefined;
  const isThere = await fetch(`${API_URL}/ok`).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isThere) lostSince.set(undefined);
  else noteLost();
}

/** Called when a request did not reach the server: asks until it answers again. */
export function noteLost(): void {
  if (lostSince.get() === undefined) lostSince.set(Date.now());
  asking ??= setTimeout(() => void ask(), ASK_AGAIN_MS);
}

export function noteReached(): void {
  lostSince.set(undefined);
}

/** Resolves when the server answers again, or when the signal is aborted. */
export function untilReached(signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      unsubscribe();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const unsubscribe = lostSince.subscribe(() => lostSince.get() === undefined && end());
    signal?.addEventListener('abort', end, { once: true });
    if (lostSince.get() === undefined) end();
  });
}

/**
 * Asks the server at intervals, for pages whose data doesn't change, and when the browser reports a change of the
 * connection.
 */
export function watchConnection(): () => void {
  const timer = setInterval(() => document.visibilityState === 'visible' && void ask(), WATCH_MS);
  const check = (): void => void ask();
  addEventListener('offline', check);
  addEventListener('online', check);
  return () => {
    clearInterval(timer);
    removeEventListener('offline', check);
    removeEventListener('online', check);
  };
}
