import type { Readable } from 'node:stream';
import pLimit from 'p-limit';
import { rangeOf } from './bounded-answer';
import { HttpTransport, PASSING_STATUSES, repeated, StoreAnswer, TransportAnswer } from './http-transport';
import {
  Content,
  Found,
  md5OfStream,
  NotSent,
  ObjectRange,
  ObjectStore,
  PutOptions,
  StorePermissions,
  whenSending,
} from './object-store';
import type { PatienceSettings } from './patience';
import { StoreError, StoreProblem } from './store-error';

const DELETES_AT_ONCE = 8;

/** Base of stores with a plain HTTP API: reading, deleting, retries, and the meaning of answers. */
export abstract class RestObjectStore implements ObjectStore {
  abstract readonly permissions: StorePermissions;

  constructor(
    protected readonly transport: HttpTransport,
    private readonly patience: PatienceSettings,
    private readonly explain: (error: unknown) => StoreProblem,
  ) {}

  abstract put(key: string, content: Content, options?: PutOptions): Promise<void>;
  abstract head(key: string, signal?: AbortSignal): Promise<Found<number>>;

  /** The bytes of an object. @param range as HTTP has it: `bytes=0-99` */
  protected abstract get(key: string, range: string | undefined, signal?: AbortSignal): Promise<TransportAnswer>;
  protected abstract remove(key: string): Promise<void>;

  async read(key: string, signal?: AbortSignal): Promise<Found<Readable>> {
    return this.found(signal, async () => (await this.get(key, undefined, signal)).body);
  }

  async readRange(key: string, from: number, to: number, signal?: AbortSignal): Promise<Found<ObjectRange>> {
    return this.found(signal, async () => {
      const { headers, body } = await this.get(key, `bytes=${from}-${to - 1}`, signal);
      return rangeOf(body as AsyncIterable<Uint8Array>, String(headers['content-range'] ?? ''), from, to);
    });
  }

  async checksum(key: string, signal?: AbortSignal): Promise<Found<string>> {
    return this.found(signal, async () => md5OfStream((await this.get(key, undefined, signal)).body));
  }

  async delete(keys: string[]): Promise<string[]> {
    const isKept = await this.explained(() => pLimit(DELETES_AT_ONCE).map(keys, (key) => this.keeps(key)));
    return keys.filter((_, index) => isKept[index]);
  }

  close(): void {
    this.transport.close();
  }

  protected repeated<T>(options: PutOptions, work: () => Promise<T>): Promise<T> {
    const mayPass = (error: unknown): boolean => {
      if (error instanceof NotSent) return false;
      return error instanceof StoreAnswer ? PASSING_STATUSES.has(error.status) : !this.explain(error).isUserFault;
    };
    return repeated(this.patience.maxAttempts, options.signal, mayPass, async () => {
      await whenSending(options);
      return work();
    });
  }

  /** The result of a read, with the answers that are none of its failures. */
  protected found<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<Found<T>> {
    return this.explained(async () => {
      try {
        return { state: 'found', value: await this.repeated({ signal }, work) };
      } catch (error) {
        // Without a look at the code: Google answers a read of bytes with bare text.
        const status = error instanceof StoreAnswer ? error.status : undefined;
        if (status === 404 || status === 416) return { state: 'missing' };
        if (status === 403 || status === 401) return { state: 'forbidden' };
        throw error;
      }
    });
  }

  protected async explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof NotSent ? error.cause : new StoreError(this.explain(error), error);
    }
  }

  /** Deletes an object; resolves to whether the store keeps it. */
  private async keeps(key: string): Promise<boolean> {
    try {
      await this.repeated({}, () => this.remove(key));
      return false;
    } catch (error) {
      if (!(error instanceof StoreAnswer) || PASSING_STATUSES.has(error.status)) throw error;
      return error.status !== 404;
    }
  }
}
