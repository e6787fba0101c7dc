import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { bytesOf } from './bounded-answer';

/** Bytes in the pieces in which they came: joining them would hold them twice. */
export interface Content {
  pieces: readonly Buffer[];
  /** Sum of the pieces' lengths. */
  size: number;
}

export function contentOf(body: Buffer): Content {
  return { pieces: [body], size: body.length };
}

export interface PutOptions {
  contentType?: string;
  /** MD5 of the whole object, where it is known already. */
  md5?: Buffer;
  signal?: AbortSignal;
  /** Awaited before each request is sent, repetitions included. What it throws ends the upload, and is thrown as it is. */
  beforeSending?: () => Promise<void>;
}

/** Carries what `beforeSending` has thrown through the client of a store, which must not take it for an answer. */
export class NotSent extends Error {
  override readonly name = 'NotSent';

  constructor(cause: unknown) {
    super('The request was not sent', { cause });
  }
}

/** @throws {NotSent} */
export async function whenSending({ beforeSending }: PutOptions): Promise<void> {
  try {
    await beforeSending?.();
  } catch (error) {
    throw new NotSent(error);
  }
}

/** Result of reading an object: a value, or that there is no such object, or that the credentials may not read it. */
export type Found<T> = { state: 'found'; value: T } | { state: 'missing' } | { state: 'forbidden' };

/** Part of an object, with the size of the whole object. */
export interface ObjectRange {
  data: Uint8Array;
  size: number;
}

/** Names of the permissions that an export uses, as the store's own documentation has them. */
export interface StorePermissions {
  write: string;
  read: string;
  delete: string;
}

/**
 * One bucket of a store. Every method throws a StoreError, which says in words what is wrong, for all that isn't among its
 * results.
 */
export interface ObjectStore {
  readonly permissions: StorePermissions;

  /**
   * Writes an object, a large one in several requests where the store wants that. It appears whole or not at all, under a checksum that the store
   * compares, and a repetition with the same bytes changes nothing.
   */
  put(key: string, content: Content, options?: PutOptions): Promise<void>;

  /** Size of an object in bytes. */
  head(key: string, signal?: AbortSignal): Promise<Found<number>>;

  /** Bytes of an object, as they arrive. The caller reads or destroys the stream; its errors are those of the client. */
  read(key: string, signal?: AbortSignal): Promise<Found<Readable>>;

  /** Bytes `from` (inclusive) to `to` (exclusive); `missing` also for an object that ends before `from`. */
  readRange(key: string, from: number, to: number, signal?: AbortSignal): Promise<Found<ObjectRange>>;

  /** MD5 of an object's bytes as hex, worked out from all of them. */
  checksum(key: string, signal?: AbortSignal): Promise<Found<string>>;

  /**
   * Deletes objects; one that isn't there counts as deleted.
   * @returns the keys of those that the store keeps, since deleting isn't permitted or they are locked. Of several, S3
   *   also names those that it could not delete at the moment
   */
  delete(keys: string[]): Promise<string[]>;

  /** Ends the connections. */
  close(): void;
}

export async function md5OfStream(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('md5');
  for await (const piece of stream) hash.update(piece);
  return hash.digest('hex');
}

export function md5Of({ pieces }: Pick<Content, 'pieces'>): Buffer {
  const hash = createHash('md5');
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}

/** The bytes from `from` (inclusive) to `to` (exclusive), without a copy. */
export function sliceOf({ pieces, size }: Content, from: number, to: number): Content {
  const end = Math.min(to, size);
  const slice: Buffer[] = [];
  let start = 0;
  for (const piece of pieces) {
    if (start < end && start + piece.length > from) {
      slice.push(piece.subarray(Math.max(0, from - start), end - start));
    }
    start += piece.length;
  }
  return { pieces: slice, size: Math.max(0, end - from) };
}

/** Far above a manifest of a hundred thousand files. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** A small object as text. @throws {AnswerTooLarge} */
export async function readText(store: ObjectStore, key: string, signal?: AbortSignal): Promise<Found<string>> {
  const object = await store.read(key, signal);
  if (object.state !== 'found') return object;
  return { state: 'found', value: (await bytesOf(object.value, MAX_TEXT_BYTES)).toString() };
}
