import {
  BaseStore,
  type Item,
  type Operation,
  type OperationResults,
  type SearchItem,
} from '@langchain/langgraph-checkpoint';
import type { TenantId } from '../../database/tenant-id';
import type { ItemStore } from '../../item-store/item-store';
import type { StoredItem } from '../../item-store/stored-item';
import type { Fence } from '../../database/fence';

type Value = Record<string, unknown>;

interface SearchOptions {
  filter?: Value;
  limit?: number;
  offset?: number;
  query?: string;
  /** Whether the read restarts the time to live; as configured if absent. */
  refreshTtl?: boolean;
}

interface NamespaceOptions {
  prefix?: string[];
  suffix?: string[];
  maxDepth?: number;
  limit?: number;
  offset?: number;
}

/**
 * The store for nodes: only that of the run's tenant. Each operation is one statement on the thread's connections; each write
 * is refused once another attempt holds the run, as a checkpoint is.
 */
export class RunStore extends BaseStore {
  constructor(
    private readonly items: ItemStore,
    private readonly tenantId: TenantId,
    /** Fence of the run that writes; absent outside of runs. */
    private readonly fence?: Fence,
  ) {
    super();
  }

  override async get(namespace: string[], key: string): Promise<Item | null> {
    const item = await this.items.get(this.tenantId, namespace, key);
    return item && toItem(item);
  }

  /** @param options.ttl minutes; null to stay for ever; the deployment's default when absent */
  override async put(
    namespace: string[],
    key: string,
    value: Value,
    index?: false | string[],
    options?: { ttl?: number | null },
  ): Promise<void> {
    await this.items.put(this.tenantId, { namespace, key, value, index, ttl: options?.ttl }, this.fence);
  }

  override async delete(namespace: string[], key: string): Promise<void> {
    await this.items.delete(this.tenantId, namespace, key, this.fence);
  }

  override async search(namespacePrefix: string[], options: SearchOptions = {}): Promise<SearchItem[]> {
    const { filter, limit = 10, offset = 0, query, refreshTtl } = options;
    const found = await this.items.search(this.tenantId, {
      prefix: namespacePrefix,
      filter,
      limit,
      offset,
      query,
      refreshTtl,
    });
    return found.map((item) => ({ ...toItem(item), ...(item.score !== null && { score: item.score }) }));
  }

  override async listNamespaces(options: NamespaceOptions = {}): Promise<string[][]> {
    const { limit = 100, offset = 0, ...rest } = options;
    return this.items.namespaces(this.tenantId, { ...rest, limit, offset });
  }

  /** In sequence, in the order of the calls. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = [];
    for (const operation of operations) results.push(await this.perform(operation));
    return results as OperationResults<Op>;
  }

  private perform(operation: Operation): Promise<unknown> {
    if ('namespacePrefix' in operation) return this.search(operation.namespacePrefix, operation);
    if ('value' in operation) {
      const { namespace, key, value, index } = operation;
      return value === null ? this.delete(namespace, key) : this.put(namespace, key, value as Value, index);
    }
    if ('key' in operation) return this.get(operation.namespace, operation.key);
    const { matchConditions = [], maxDepth, limit, offset } = operation;
    const pathOf = (type: string): string[] | undefined =>
      matchConditions.find(({ matchType }) => matchType === type)?.path;
    const [prefix, suffix] = [pathOf('prefix'), pathOf('suffix')];
    return this.listNamespaces({
      ...(prefix && { prefix }),
      ...(suffix && { suffix }),
      ...(maxDepth !== undefined && { maxDepth }),
      limit,
      offset,
    });
  }
}

function toItem({ namespace, key, value, createdAt, updatedAt }: StoredItem): Item {
  return { namespace, key, value, createdAt, updatedAt };
}
