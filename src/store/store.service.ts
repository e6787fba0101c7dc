import { Injectable } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { GraphCallRefused } from '../graphs/host/graph-thread-handle';
import { ItemStore } from './item-store';
import { storeErrors } from './store.errors';
import { StoreRefusal } from './store-refusal';
import type { StoredItem } from './store.repository';
import type { DeleteItem, GetItem, ListNamespaces, PutItem, SearchItems } from './store.schemas';

/** What the API does with the store. */
@Injectable()
export class StoreService {
  constructor(private readonly items: ItemStore) {}

  get(tenantId: TenantId, { namespace, refresh_ttl }: GetItem, key: string): Promise<StoredItem | null> {
    return answer(() => this.items.get(tenantId, namespace, key, refresh_ttl));
  }

  put(tenantId: TenantId, item: PutItem): Promise<void> {
    return answer(() => this.items.put(tenantId, item));
  }

  delete(tenantId: TenantId, { namespace, key }: DeleteItem): Promise<void> {
    return answer(() => this.items.delete(tenantId, namespace, key));
  }

  search(tenantId: TenantId, search: SearchItems): Promise<StoredItem[]> {
    const { namespace_prefix: prefix, refresh_ttl: refreshTtl, ...rest } = search;
    return answer(() => this.items.search(tenantId, { prefix, refreshTtl, ...rest }));
  }

  namespaces(tenantId: TenantId, { max_depth: maxDepth, ...rest }: ListNamespaces): Promise<string[][]> {
    return answer(() => this.items.namespaces(tenantId, { maxDepth, ...rest }));
  }
}

/** Tells the client what it got wrong, and what the deployment's own code did. */
async function answer<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof StoreRefusal) throw storeErrors.refused(error);
    if (error instanceof GraphCallRefused) throw storeErrors.notEmbedded(error.message);
    if (isTooLarge(error)) throw storeErrors.tooLarge();
    throw error;
  }
}

/** Postgres class 54: a limit of the program, such as the depth of a value. */
function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^54...$/.test(String(error.code));
}
