import { toApiTime } from '../http/api-time';
import type { Item } from './store.schemas';
import type { StoredItem } from '../item-store/stored-item';

export function toStoreItem({ namespace, key, value, createdAt, updatedAt }: StoredItem): Item {
  return { namespace, key, value, created_at: toApiTime(createdAt), updated_at: toApiTime(updatedAt) };
}
