import type { TenantId } from '../database/tenant-id';
import type { JsonObject } from '../database/json';
import type { Fence } from '../database/fence';
import { textsAt } from './embedding-fields';
import { checkKey, checkLabels, checkNamespace } from './namespace';
import type { Filter } from './store-filter';
import { StoreRefusal } from './store-refusal';
import type { StoreRepository } from './store.repository';
import type { NamespaceSearch, StoredItem } from './stored-item';
import type { StoreSettings } from '../config/store-settings';

/** Whether text is embedded as a document or as a query, which some models distinguish. */
export type TextKind = 'document' | 'query';
/** Resolves to one vector of `dims` finite numbers for each text. */
export type Embed = (tenantId: TenantId, kind: TextKind, texts: string[]) => Promise<number[][]>;

/** Limit of an item's size, far above the recommended one, and below Postgres' limit of one value. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;
const DELETE_BATCH = 1_000;
const MAX_TTL_MINUTES = 100 * 365 * 24 * 60;
/** U+0000 and halves of surrogate pairs as JSON.stringify escapes them: jsonb takes neither. */
const UNSTORABLE_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

export interface PutRequest {
  namespace: string[];
  key: string;
  value: JsonObject;
  /** Paths to embed; false embeds nothing; the deployment's fields otherwise. */
  index?: false | string[] | undefined;
  /** Minutes; null to stay for ever; the deployment's default otherwise. */
  ttl?: number | null | undefined;
}

export interface Page {
  limit: number;
  offset: number;
}

export interface Search {
  prefix?: string[] | undefined;
  filter?: Filter | undefined;
  query?: string | undefined;
}

export interface SearchRequest extends Search, Page {
  refreshTtl?: boolean | undefined;
}

export interface NamespacesRequest extends Page {
  prefix?: string[] | undefined;
  suffix?: string[] | undefined;
  maxDepth?: number | undefined;
}

/** The rules of the store, for the API and for graph code. Errors of callers are StoreRefusals. */
export class ItemStore {
  constructor(
    private readonly repository: StoreRepository,
    private readonly settings: StoreSettings,
    private readonly embed: Embed,
  ) {}

  /** Reads an item, and restarts its time to live as `refresh` does. */
  async get(tenantId: TenantId, namespace: string[], key: string, refreshTtl?: boolean): Promise<StoredItem | null> {
    checkNamespace(namespace);
    checkKey(key);
    const item = await this.repository.get(tenantId, namespace, key);
    if (item) await this.refresh(tenantId, [item], refreshTtl);
    return item;
  }

  /** Restarts the time to live of items that were read, if `refreshTtl` is true or, where it isn't given, if the deployment says so. */
  async refresh(tenantId: TenantId, items: StoredItem[], refreshTtl = this.settings.refreshOnRead): Promise<void> {
    if (refreshTtl) await this.repository.refresh(tenantId, items);
  }

  /** Replaces the whole item, or nothing at all when it can't be embedded. */
  async put(tenantId: TenantId, request: PutRequest, fence?: Fence): Promise<void> {
    const { namespace, key, value } = request;
    checkNamespace(namespace);
    checkKey(key);
    checkValue(value);
    const ttlMinutes = request.ttl === undefined ? (this.settings.defaultTtlMinutes ?? null) : request.ttl;
    if (ttlMinutes !== null && !(ttlMinutes > 0 && ttlMinutes <= MAX_TTL_MINUTES)) {
      throw new StoreRefusal('ttl', 'must be a number of minutes above 0, a hundred years at most');
    }
    const embeddings = await this.embeddings(tenantId, value, request.index);
    await this.repository.put(
      tenantId,
      { namespace, key, value, ttlMinutes, ...(embeddings && { embeddings }) },
      fence,
    );
  }

  delete(tenantId: TenantId, namespace: string[], key: string, fence?: Fence): Promise<void> {
    checkNamespace(namespace);
    checkKey(key);
    return this.repository.delete(tenantId, namespace, key, fence);
  }

  /** Deletes everything of the tenant, a batch at a time, so that rows are locked for a short time. */
  async deleteAll(tenantId: TenantId): Promise<void> {
    while ((await this.repository.deleteSome(tenantId, DELETE_BATCH)) === DELETE_BATCH);
  }

  /**
   * Finds items, ordered by similarity to the query if the deployment embeds items; otherwise the query is ignored. Restarts their time
   * to live as `refresh` does.
   */
  async search(tenantId: TenantId, request: SearchRequest): Promise<StoredItem[]> {
    const items = await this.searchPages(tenantId, request)(request);
    await this.refresh(tenantId, items, request.refreshTtl);
    return items;
  }

  /** Returns a function that reads a page of what `search` finds, with the query embedded once for all pages. Refreshes nothing. */
  searchPages(tenantId: TenantId, request: Search): (page: Page) => Promise<StoredItem[]> {
    const { prefix = [], filter = {}, query } = request;
    checkLabels(prefix, 'namespace_prefix');
    checkStorable(filter, 'filter');
    let vectors: ReturnType<ItemStore['unitVectors']> | undefined;
    return async ({ limit, offset }) => {
      if (limit === 0) return [];
      if (query && this.settings.index) vectors ??= this.unitVectors(tenantId, 'query', [query]);
      const near = (await vectors)?.[0];
      return this.repository.search(tenantId, { prefix, filter, limit, offset, ...(near && { near }) });
    };
  }

  async namespaces(tenantId: TenantId, request: NamespacesRequest): Promise<string[][]> {
    const { prefix = [], suffix = [], maxDepth, limit, offset } = request;
    checkLabels(prefix, 'prefix');
    checkLabels(suffix, 'suffix');
    const search: NamespaceSearch = { prefix, suffix, limit, offset, ...(maxDepth !== undefined && { maxDepth }) };
    return this.repository.namespaces(tenantId, search);
  }

  private async embeddings(
    tenantId: TenantId,
    value: JsonObject,
    paths: false | string[] | undefined,
  ): Promise<Map<string, number[]> | undefined> {
    const { index } = this.settings;
    if (!index) return undefined;
    const texts = paths === false ? [] : textsAt(value, paths ?? index.fields);
    if (texts.length === 0) return new Map();
    const vectors = await this.unitVectors(
      tenantId,
      'document',
      texts.map(({ text }) => text),
    );
    // A vector of zeros is similar to nothing.
    return new Map(texts.flatMap(({ field }, at) => (vectors[at] ? [[field, vectors[at]]] : [])));
  }

  /** Embeds texts as vectors of length 1, so that similarity is a product; undefined for a vector of zeros. */
  private async unitVectors(tenantId: TenantId, kind: TextKind, texts: string[]): Promise<(number[] | undefined)[]> {
    const vectors = await this.embed(tenantId, kind, texts);
    return vectors.map((vector) => {
      const length = Math.hypot(...vector);
      return length > 0 ? vector.map((number) => number / length) : undefined;
    });
  }
}

function checkValue(value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new StoreRefusal('value', 'must be an object');
  }
  const bytes = checkStorable(value, 'value');
  if (bytes > MAX_VALUE_BYTES) throw new StoreRefusal('value', `must not be larger than ${MAX_VALUE_BYTES} bytes`);
}

/** @returns the length of the value's JSON */
function checkStorable(value: object, path: string): number {
  let json: string;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    // A cycle, a BigInt or thousands of levels.
    throw new StoreRefusal(path, `can't be written as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (UNSTORABLE_ESCAPE.test(json))
    throw new StoreRefusal(path, 'must not contain the character U+0000 or half a character');
  return Buffer.byteLength(json);
}
