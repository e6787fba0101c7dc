/** Resolves when the signal is aborted; never without a signal. */
export function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * The result of work that may never end.
 * @throws the reason of the abort, if that comes first
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborting = Promise.withResolvers<never>();
  const abort = (): void => aborting.reject(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);
  try {
    return await Promise.race([work, aborting.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
