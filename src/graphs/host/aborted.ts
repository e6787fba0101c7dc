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
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const abort = aborted(signal).then((): never => {
    throw signal.reason;
  });
  return Promise.race([work, abort]);
}
