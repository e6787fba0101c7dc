import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { matchesAccess } from '../auth/custom/access-filter';
import { Authorizer } from '../auth/custom/authorizer';
import type { TenantId } from '../auth/tenant';
import { GraphCallRefused } from '../graphs/host/graph-thread-handle';
import { ItemStore } from './item-store';
import { storeErrors } from './store.errors';
import { StoreRefusal } from './store-refusal';
import type { StoredItem } from './store.repository';
import type { DeleteItem, GetItem, ListNamespaces, PutItem, SearchItems } from './store.schemas';

/**
 * What the API does with the store. The custom auth decides by the namespace, which its handlers may rewrite, and by the
 * item's value, which their filters hold for: an item that is excluded looks as if it weren't there.
 */
@Injectable()
export class StoreService {
  constructor(
    private readonly items: ItemStore,
    private readonly authorizer: Authorizer,
  ) {}

  async get(tenantId: TenantId, { namespace, refresh_ttl }: GetItem, key: string): Promise<StoredItem | null> {
    const { value: asked, filter } = await this.authorizer.authorize('store', 'get', { namespace, key });
    const item = await answer(() => this.items.get(tenantId, asked.namespace, asked.key, refresh_ttl));
    return item && filter && !matchesAccess(filter, item.value) ? null : item;
  }

  /** @throws {ApiError} 404 for an item that is there and another's, 403 for one that would be */
  async put(tenantId: TenantId, { namespace, key, value, ...rest }: PutItem): Promise<void> {
    const { value: item, filter } = await this.authorizer.authorize('store', 'put', { namespace, key, value });
    if (filter) {
      const existing = await answer(() => this.items.get(tenantId, item.namespace, item.key, false));
      if (existing && !matchesAccess(filter, existing.value)) throw storeErrors.notFound();
      if (!matchesAccess(filter, item.value)) throw storeErrors.forbidden();
    }
    return answer(() => this.items.put(tenantId, { ...item, ...rest }));
  }

  async delete(tenantId: TenantId, { namespace, key }: DeleteItem): Promise<void> {
    const { value: item, filter } = await this.authorizer.authorize('store', 'delete', { namespace, key });
    if (filter) {
      const existing = await answer(() => this.items.get(tenantId, item.namespace, item.key, false));
      if (existing && !matchesAccess(filter, existing.value)) return;
    }
    return answer(() => this.items.delete(tenantId, item.namespace, item.key));
  }

  /** Without asking the custom auth: for who has been let through already. */
  deleteAll(tenantId: TenantId): Promise<void> {
    return this.items.deleteAll(tenantId);
  }

  async search(tenantId: TenantId, search: SearchItems): Promise<StoredItem[]> {
    const { namespace_prefix: namespace = [], refresh_ttl: refreshTtl, filter: wanted, ...rest } = search;
    const wish = { namespace, filter: wanted, ...rest };
    const { value: asked, filter: access = [] } = await this.authorizer.authorize('store', 'search', wish);
    const { namespace: prefix, ...found } = asked;
    const filter = { ...asked.filter };
    for (const clause of access) {
      // A search takes conditions on fields and no alternatives: what can't be said to it is not let through.
      if (clause.kind !== 'eq') throw storeErrors.forbidden();
      if (clause.key in filter && !isDeepStrictEqual(filter[clause.key], clause.value)) return [];
      filter[clause.key] = { $eq: clause.value };
    }
    return answer(() => this.items.search(tenantId, { ...found, prefix, refreshTtl, filter }));
  }

  async namespaces(tenantId: TenantId, { prefix, max_depth: maxDepth, ...rest }: ListNamespaces): Promise<string[][]> {
    const wish = { namespace: prefix ?? [], max_depth: maxDepth, ...rest };
    const { value: asked, filter } = await this.authorizer.authorize('store', 'list_namespaces', wish);
    // A namespace has no value that a filter could hold for.
    if (filter) throw storeErrors.forbidden();
    const { namespace, max_depth: depth, ...more } = asked;
    return answer(() => this.items.namespaces(tenantId, { prefix: namespace, maxDepth: depth, ...more }));
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
