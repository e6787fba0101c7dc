import type { ObjectStore } from '../../storage/object-store';
import type { PartFile, PartitionRow } from '../partitions/partition-row';
import { GONE_OR_FORBIDDEN } from './export-verifier';

/** Sizes that are read at a time. */
const HEADS_AT_ONCE = 16;

/** A file that isn't in the bucket as it was written. `problem` continues its key as a sentence. */
export interface LostFile {
  objectKey: string;
  problem: string;
  /** False while nothing can be read: expired credentials are refused in the same way as a file that is gone. */
  isCertain: boolean;
}

/**
 * Finds the first file whose size in the store is another, in chunks, to stop there; none where sizes could never be
 * read. A refusal is a loss if others can be read now: see {@link ExportVerifier.check}.
 */
export async function findLostFile(
  store: ObjectStore,
  files: PartFile[],
  partitions: PartitionRow[],
  signal: AbortSignal,
): Promise<LostFile | undefined> {
  const read = new Set(partitions.flatMap(({ partitionId, verified }) => (verified ? [partitionId] : [])));
  const couldRead = files.some(({ partitionId }) => read.has(partitionId));
  for (let from = 0; from < files.length; from += HEADS_AT_ONCE) {
    const some = files.slice(from, from + HEADS_AT_ONCE);
    const heads = await Promise.all(some.map(({ objectKey }) => store.head(objectKey, signal)));
    if (heads.every(({ state }) => state === 'forbidden')) {
      const [{ objectKey }] = some;
      return couldRead ? { objectKey, problem: GONE_OR_FORBIDDEN, isCertain: false } : undefined;
    }
    for (const [index, { objectKey, bytes }] of some.entries()) {
      const head = heads[index];
      if (head.state === 'forbidden') return { objectKey, problem: GONE_OR_FORBIDDEN, isCertain: true };
      if (head.state === 'missing' || head.value !== bytes) {
        return { objectKey, problem: 'is not in the bucket as it was written', isCertain: true };
      }
    }
  }
  return undefined;
}
