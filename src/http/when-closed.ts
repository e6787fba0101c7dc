import type { ServerResponse } from 'node:http';

/**
 * Calls back when an answer is closed: complete, or given up by its client or this server. At once if that was before, as when
 * the client has left while its request was checked: there is no further event then.
 * @returns stops waiting
 */
export function whenClosed(raw: ServerResponse, callback: () => void): () => void {
  if (raw.destroyed) {
    callback();
    return () => undefined;
  }
  raw.once('close', callback);
  return () => raw.off('close', callback);
}
