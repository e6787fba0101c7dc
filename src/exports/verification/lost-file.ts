import type { ObjectStore } from '../../storage/object-store';
import type { PartFile, PartitionRow } from '../partitions/partition-row';
import { GONE_OR_FORBIDDEN } from './export-verifier';

/** Sizes that are read at a time. */
const HEADS_AT_ONCE = 16;

/** A file that isn't in the bucket as it was written. `problem` continues its key as a sentence. */
export interface LostFile {
  objectKey: string;
  problem: string;
}

/**
 * Finds the first file whose size in the store is another, in chunks, to stop there; none where sizes may not be read. A refusal
 * is a loss if the file could be read when its partition was complete, or if others can be read: see {@link ExportVerifier.check}.
 */
export async function findLostFile(
  store: ObjectStore,
  files: PartFile[],
  partitions: PartitionRow[],
  signal: AbortSignal,
): Promise<LostFile | undefined> {
  const read = new Set(partitions.flatMap(({ partitionId, verified }) => (verified ? [partitionId] : [])));
  const wasRead = ({ partitionId }: PartFile): boolean => read.has(partitionId);
  const mayRead = files.some(wasRead);
  for (let from = 0; from < files.length; from += HEADS_AT_ONCE) {
    const some = files.slice(from, from + HEADS_AT_ONCE);
    const heads = await Promise.all(some.map(({ objectKey }) => store.head(objectKey, signal)));
    const isReadable = heads.some(({ state }) => state !== 'forbidden');
    for (const [index, file] of some.entries()) {
      const { objectKey, bytes } = file;
      const head = heads[index];
      if (head.state === 'forbidden') {
        if (isReadable || wasRead(file)) return { objectKey, problem: GONE_OR_FORBIDDEN };
      } else if (head.state === 'missing' || head.value !== bytes) {
        return { objectKey, problem: 'is not in the bucket as it was written' };
      }
    }
    if (!isReadable && !mayRead) return undefined;
  }
  return undefined;
}
