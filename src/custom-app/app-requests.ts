import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import { whenClosed } from '../http/when-closed';

type Callback = (error: Error | null, answer: Dispatcher.ResponseData) => void;

/**
 * The requests that the app's process has been handed. None waits for another's connection: an event stream keeps its own for as
 * long as it likes. When a client leaves, its request is aborted, whether the app has answered or not.
 */
export class AppRequests {
  private readonly pool: Pool;
  /** The answer to the client that a request is made for: the library that makes it passes on no signal. */
  private readonly clients = new AsyncLocalStorage<ServerResponse>();
  private underWay = 0;

  constructor(
    socketPath: string,
    private readonly max: number,
  ) {
    // An answer, and each part of it, may take as long as it likes.
    this.pool = new Pool('http://localhost', { socketPath, headersTimeout: 0, bodyTimeout: 0 });
  }

  /** Whether as many are under way as may be. */
  get areTooMany(): boolean {
    return this.underWay >= this.max;
  }

  /** Counts a request as under way until its client is answered or has left. */
  passOn<T>(client: ServerResponse, send: () => T): T {
    this.underWay += 1;
    whenClosed(client, () => (this.underWay -= 1));
    return this.clients.run(client, send);
  }

  /** Called by @fastify/reply-from within `passOn`. */
  readonly request = (options: Dispatcher.RequestOptions, callback: Callback): void => {
    const gone = new AbortController();
    const stopWaiting = whenClosed(this.clients.getStore()!, () => gone.abort());
    this.pool.request({ ...options, signal: gone.signal }, (error, answer) => {
      // Once there is an answer, the framework closes it with the client's connection.
      stopWaiting();
      if (!gone.signal.aborted) callback(error, answer);
    });
  };
}
