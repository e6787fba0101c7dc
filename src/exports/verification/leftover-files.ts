import pLimit from 'p-limit';
import type { ObjectStore } from '../../storage/object-store';
import type { DestinationPlace } from '../destinations/destinations.schemas';
import { partKey } from '../destinations/export-layout';
import { filesByPartition, type PartFile, type PartitionRow } from '../partitions/partition-row';

const DELETED_AT_ONCE = 8;

/**
 * Keys of the files that may be in the folders of partitions without being part of them, by partition: an earlier attempt has written
 * more files than the one that completed it, for example because rows have left the filter since.
 */
export function leftoversOf(
  place: DestinationPlace,
  tenantId: string,
  partitions: PartitionRow[],
  files: PartFile[],
): Map<string, string[]> {
  const byPartition = filesByPartition(files);
  const leftovers = new Map<string, string[]>();
  for (const { partitionId, exportId, sessionId, day, partsBegun } of partitions) {
    const parts = byPartition.get(partitionId)?.length ?? 0;
    const keys: string[] = [];
    for (let part = parts; part < partsBegun; part += 1) {
      keys.push(partKey(place, { exportId, tenantId, sessionId }, day, part));
    }
    if (keys.length > 0) leftovers.set(partitionId, keys);
  }
  return leftovers;
}

/**
 * Deletes leftovers, one by one: a store may refuse a request for several as a whole.
 * @returns ids of the partitions that have none any more
 */
export async function deleteLeftovers(store: ObjectStore, leftovers: Map<string, string[]>): Promise<string[]> {
  const cleared: string[] = [];
  for (const [partitionId, keys] of leftovers) {
    const kept = await pLimit(DELETED_AT_ONCE).map(keys, (key) => store.delete([key]));
    if (kept.flat().length === 0) cleared.push(partitionId);
  }
  return cleared;
}
