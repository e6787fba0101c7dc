import { z } from 'zod';
import type { Fence } from '../../database/fence';
import type { TenantId } from '../../database/tenant-id';
import type { Embed, ItemStore } from '../../item-store/item-store';

/** A store operation, or texts to embed, of a graph process; for an execution or a tenant. */
export interface StoreQuestion {
  type: 'store';
  /** Repeated in the answer. */
  request: number;
  execution?: number;
  tenantId?: string;
  operation: unknown;
}

const namespace = z.array(z.string());
const page = { limit: z.number().int(), offset: z.number().int() };

/** Operations as python/gantry_graphs/store.py and parent-requests.ts word them. */
const operationSchema = z.discriminatedUnion('name', [
  z.object({ name: z.literal('get'), namespace, key: z.string(), refreshTtl: z.boolean().nullish() }),
  z.object({
    name: z.literal('put'),
    namespace,
    key: z.string(),
    value: z.record(z.string(), z.json()),
    index: z.union([z.literal(false), z.array(z.string())]).optional(),
    ttl: z.number().nullish(),
  }),
  z.object({ name: z.literal('delete'), namespace, key: z.string() }),
  z.object({
    name: z.literal('search'),
    prefix: namespace,
    filter: z.record(z.string(), z.json()).nullish(),
    ...page,
    query: z.string().nullish(),
    refreshTtl: z.boolean().nullish(),
  }),
  z.object({
    name: z.literal('namespaces'),
    prefix: namespace.optional(),
    suffix: namespace.optional(),
    maxDepth: z.number().int().nullish(),
    ...page,
  }),
  z.object({ name: z.literal('embed'), kind: z.enum(['document', 'query']), texts: z.array(z.string()) }),
]);

/** Performs store operations for graphs whose process doesn't reach the database, or the embedding function. */
export class StoreOperations {
  constructor(
    private readonly itemsOf: (tenantId: TenantId) => Promise<ItemStore>,
    private readonly embed: Embed,
  ) {}

  /**
   * Resolves to items, namespaces, vectors, or null.
   * @param fence of the run that writes: a write is refused once another attempt holds the run
   */
  async perform(tenantId: TenantId, given: unknown, fence?: Fence): Promise<unknown> {
    const operation = operationSchema.parse(given);
    if (operation.name === 'embed') return this.embed(tenantId, operation.kind, operation.texts);
    const items = await this.itemsOf(tenantId);
    switch (operation.name) {
      case 'get':
        return items.get(tenantId, operation.namespace, operation.key, operation.refreshTtl ?? undefined);
      case 'put':
        await items.put(tenantId, operation, fence);
        return null;
      case 'delete':
        await items.delete(tenantId, operation.namespace, operation.key, fence);
        return null;
      case 'search': {
        const { filter, query, refreshTtl, ...rest } = operation;
        return items.search(tenantId, {
          ...rest,
          filter: filter ?? undefined,
          query: query ?? undefined,
          refreshTtl: refreshTtl ?? undefined,
        });
      }
      case 'namespaces':
        return items.namespaces(tenantId, { ...operation, maxDepth: operation.maxDepth ?? undefined });
    }
  }
}
