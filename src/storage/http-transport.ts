import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import type { PatienceSettings } from './patience';

/** Pause before the second attempt; it doubles with each one. */
const FIRST_PAUSE_MS = 250;

export interface TransportRequest {
  method: Dispatcher.HttpMethod;
  url: string;
  headers: Record<string, string>;
  body?: Buffer | Readable | string | null;
  signal?: AbortSignal;
}

export interface TransportAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Dispatcher.ResponseData['body'];
}

/** HTTP to a store, with its patience, and to no address that the policy refuses. Redirects are not followed. */
export class HttpTransport {
  private readonly agent: Agent;

  /** @param lookup name resolution that judges addresses; the system's where it is absent */
  constructor(patience: PatienceSettings, lookup: LookupFunction | undefined) {
    this.agent = new Agent({
      connections: 20,
      headersTimeout: patience.answerTimeout,
      bodyTimeout: patience.pieceTimeout ?? patience.answerTimeout,
      connect: { timeout: patience.connectionTimeout, ...(lookup && { lookup }) },
    });
  }

  async send({ url, ...options }: TransportRequest): Promise<TransportAnswer> {
    const { statusCode, headers, body } = await request(url, { ...options, dispatcher: this.agent });
    return { status: statusCode, headers, body };
  }

  close(): void {
    // What is still open belongs to an attempt that is over.
    void this.agent.destroy();
  }
}

/** An answer that is no success. */
export class StoreAnswer extends Error {
  override readonly name = 'StoreAnswer';

  /** @param code the store's own; undefined where the answer isn't that of such a store */
  constructor(
    readonly status: number,
    readonly code: string | undefined,
    message: string,
  ) {
    super(message);
  }
}

/** Statuses after which a store may take the same request. */
export const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Repeats what may pass by itself.
 * @param mayPass whether another attempt can end otherwise
 */
export async function repeated<T>(
  attempts: number,
  signal: AbortSignal | undefined,
  mayPass: (error: unknown) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attempts || signal?.aborted || !mayPass(error)) throw error;
      await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1), undefined, { signal });
    }
  }
}
