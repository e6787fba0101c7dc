import { Injectable } from '@nestjs/common';
import { parquetMetadataAsync } from 'hyparquet';
import pLimit from 'p-limit';
import type { PartFile } from '../partitions/partition-row';
import type { ObjectStore } from '../../storage/object-store';
import { StoreError } from '../../storage/store-error';

/** Files that are checked at a time: each costs a request or two. */
const CONCURRENCY = 16;
/** A footer with 29 columns and five row groups has about 20 KB; for a larger one a second request follows. */
const FOOTER_BYTES = 64 * 1024;

export type WrittenFile = Pick<PartFile, 'objectKey' | 'rows' | 'bytes'>;

/** `unreadable`: the credentials may not read. `wrong`: the store holds something else, or nothing. */
export type FileCheck = { state: 'verified' } | { state: 'unreadable' } | { state: 'wrong'; problem: string };

/** Continues the path of a file as a sentence, where reading it is refused and reading others is not. */
export const GONE_OR_FORBIDDEN = 'is not in the bucket, or may not be read';

interface CheckedFile<T> {
  file: T;
  check: FileCheck;
}

/** Compares what a store holds with what was written to it, by a Parquet reader that isn't the writer. */
@Injectable()
export class ExportVerifier {
  /**
   * Reads the end of each file: its size and the row count in its footer. A store that doesn't permit listing refuses a file that
   * isn't there like one that may not be read, so a refusal is a fault of the file if another file can be read. Stops after the
   * first few if all of these are refused, since none may be read then.
   * @param mayRead whether something else in the bucket could be read: then each refusal is a fault of its file
   * @returns a check for each file, in their order
   */
  async check<T extends WrittenFile>(
    store: ObjectStore,
    files: T[],
    signal?: AbortSignal,
    mayRead = false,
  ): Promise<CheckedFile<T>[]> {
    const first = await checkFiles(store, files.slice(0, CONCURRENCY), signal);
    if (!mayRead && first.every(isUnreadable)) return files.map((file) => ({ file, check: { state: 'unreadable' } }));
    const checks = [...first, ...(await checkFiles(store, files.slice(CONCURRENCY), signal))];
    return checks.map((one) =>
      isUnreadable(one) ? { ...one, check: { state: 'wrong', problem: GONE_OR_FORBIDDEN } } : one,
    );
  }
}

function isUnreadable({ check }: CheckedFile<unknown>): boolean {
  return check.state === 'unreadable';
}

function checkFiles<T extends WrittenFile>(
  store: ObjectStore,
  files: T[],
  signal: AbortSignal | undefined,
): Promise<CheckedFile<T>[]> {
  return pLimit(CONCURRENCY).map(files, async (file) => {
    signal?.throwIfAborted();
    return { file, check: await checkFile(store, file, signal) };
  });
}

async function checkFile(store: ObjectStore, file: WrittenFile, signal?: AbortSignal): Promise<FileCheck> {
  const { objectKey, rows, bytes } = file;
  const read = await store.readRange(objectKey, Math.max(0, bytes - FOOTER_BYTES), bytes, signal);
  if (read.state === 'forbidden') return { state: 'unreadable' };
  if (read.state === 'missing') return { state: 'wrong', problem: 'is not in the bucket' };
  const end = read.value;
  if (end.size !== bytes) return { state: 'wrong', problem: `has ${end.size} bytes instead of ${bytes}` };
  const source = {
    byteLength: bytes,
    slice: async (from: number, to = bytes): Promise<ArrayBuffer> => {
      const inHand = bytes - end.data.length;
      if (from >= inHand) return toArrayBuffer(end.data.subarray(from - inHand, to - inHand));
      const more = await store.readRange(objectKey, from, to, signal);
      if (more.state !== 'found') throw new Error(`${objectKey} is gone`);
      return toArrayBuffer(more.value.data);
    },
  };
  const counted = await countRows(source);
  if (typeof counted === 'string') return { state: 'wrong', problem: counted };
  if (counted !== BigInt(rows)) return { state: 'wrong', problem: `has ${counted} rows instead of ${rows}` };
  return { state: 'verified' };
}

async function countRows(source: { byteLength: number; slice: (from: number, to?: number) => Promise<ArrayBuffer> }) {
  try {
    return (await parquetMetadataAsync(source, { initialFetchSize: FOOTER_BYTES })).num_rows;
  } catch (error) {
    // A failure of the store says nothing about the file; any other error comes from the parser.
    if (error instanceof StoreError) throw error;
    return 'is not a Parquet file';
  }
}

function toArrayBuffer(data: Uint8Array): ArrayBuffer {
  return new Uint8Array(data).buffer;
}
