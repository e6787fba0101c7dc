import { Injectable } from '@nestjs/common';
import { matchesAccess, whereSaid } from '../auth/custom/access-filter';
import { type Authorized, Authorizer } from '../auth/custom/authorizer';
import type { TenantId } from '../auth/tenant';
import { GraphCallRefused } from '../graphs/host/graph-process.errors';
import { ItemStore, type Page } from '../item-store/item-store';
import { storeErrors } from './store.errors';
import { StoreRefusal } from '../item-store/store-refusal';
import type { StoredItem } from '../item-store/stored-item';
import type { DeleteItem, GetItem, ListNamespaces, PutItem, SearchItems } from './store.schemas';

/** Rows that are read at once where users' filters are applied to them, and rows that one request may read in all. */
const PAGE = 200;
const MOST_READ = 10_000;

/**
 * Operations of the API on the store. The custom auth decides by the namespace, which its handlers may rewrite, and by the
 * item: their filters hold for the fields of its value, its `namespace` and its `key`. An item that is excluded looks as if it
 * weren't there. A handler for every kind of resource, such as `*`, knows nothing of items: its filter excludes those that have
 * its fields with other values, and no others.
 */
@Injectable()
export class StoreService {
  constructor(
    private readonly items: ItemStore,
    private readonly authorizer: Authorizer,
  ) {}

  async getItem(tenantId: TenantId, { namespace, refresh_ttl }: GetItem, key: string): Promise<StoredItem | null> {
    const { value: asked, ...access } = await this.authorizer.authorize('store', 'get', { namespace, key });
    const item = await answer(() => this.items.get(tenantId, asked.namespace, asked.key, false));
    if (!item || !isAllowed(access, item)) return null;
    await this.items.refresh(tenantId, [item], refresh_ttl);
    return item;
  }

  /** @throws {ApiError} 404 for an item that is there and another's, 403 for one that would be */
  async putItem(tenantId: TenantId, { namespace, key, value, ...rest }: PutItem): Promise<void> {
    const { value: item, ...access } = await this.authorizer.authorize('store', 'put', { namespace, key, value });
    if (access.filter) {
      const existing = await answer(() => this.items.get(tenantId, item.namespace, item.key, false));
      if (existing && !isAllowed(access, existing)) throw storeErrors.notFound();
      if (!isAllowed(access, item)) throw storeErrors.forbidden();
    }
    return answer(() => this.items.put(tenantId, { ...item, ...rest }));
  }

  async deleteItem(tenantId: TenantId, { namespace, key }: DeleteItem): Promise<void> {
    const { value: item, ...access } = await this.authorizer.authorize('store', 'delete', { namespace, key });
    if (access.filter) {
      const existing = await answer(() => this.items.get(tenantId, item.namespace, item.key, false));
      if (existing && !isAllowed(access, existing)) return;
    }
    return answer(() => this.items.delete(tenantId, item.namespace, item.key));
  }

  /** Deletes all items without asking the custom auth: its callers have been authorised already. */
  deleteAllItems(tenantId: TenantId): Promise<void> {
    return this.items.deleteAll(tenantId);
  }

  async searchItems(tenantId: TenantId, search: SearchItems): Promise<StoredItem[]> {
    const { namespace_prefix: namespace = [], refresh_ttl: refreshTtl, ...rest } = search;
    const { value: asked, ...access } = await this.authorizer.authorize('store', 'search', { namespace, ...rest });
    const { namespace: prefix, ...found } = asked;
    return answer(async () => {
      if (!access.filter) return this.items.search(tenantId, { ...found, prefix, refreshTtl });
      const read = this.items.searchPages(tenantId, { ...found, prefix });
      const items = await allowedOnly(read, found, (item) => isAllowed(access, item));
      await this.items.refresh(tenantId, items, refreshTtl);
      return items;
    });
  }

  async listNamespaces(
    tenantId: TenantId,
    { prefix, max_depth: maxDepth, ...rest }: ListNamespaces,
  ): Promise<string[][]> {
    const requested = { namespace: prefix ?? [], max_depth: maxDepth, ...rest };
    const { value: asked, ...access } = await this.authorizer.authorize('store', 'list_namespaces', requested);
    const { namespace: below, max_depth: depth, ...more } = asked;
    const read = (page: Page): Promise<string[][]> =>
      answer(() => this.items.namespaces(tenantId, { prefix: below, maxDepth: depth, ...more, ...page }));
    return access.filter ? allowedOnly(read, more, (each) => isAllowed(access, { namespace: each })) : read(more);
  }
}

type Access = Pick<Authorized<object>, 'filter' | 'isGeneral'>;

function isAllowed(
  { filter, isGeneral }: Access,
  { value, namespace, key }: { value?: Record<string, unknown>; namespace: string[]; key?: string },
): boolean {
  if (!filter) return true;
  const said = { ...value, namespace, ...(key !== undefined && { key }) };
  return matchesAccess(isGeneral ? whereSaid(filter, said) : filter, said);
}

/**
 * A page of what is allowed, out of as many pages of everything as that takes.
 * @throws {ApiError} 400 when next to nothing of what there is is allowed
 */
async function allowedOnly<T>(
  read: (page: Page) => Promise<T[]>,
  { limit, offset }: Page,
  allows: (each: T) => boolean,
): Promise<T[]> {
  const allowed: T[] = [];
  for (let from = 0; from < MOST_READ; from += PAGE) {
    const page = await read({ limit: PAGE, offset: from });
    allowed.push(...page.filter(allows));
    if (allowed.length >= offset + limit || page.length < PAGE) return allowed.slice(offset, offset + limit);
  }
  throw storeErrors.tooManyToSearch();
}

/** Turns errors into answers: what the client got wrong, and what failed in the deployment's own code. */
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
