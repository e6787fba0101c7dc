import { LRUCache } from 'lru-cache';
import type { TenantId } from '../auth/tenant';
import type { GraphHosts } from '../graphs/host/graph-hosts';
import type { AssistantEntity } from './assistant.entity';

/** Assistants of graphs that functions make, whose schemas are kept. */
const MAX_ASSISTANTS = 1_000;

type Described = Pick<AssistantEntity, 'assistantId' | 'graphId' | 'version' | 'createdAt'>;

/**
 * Keeps what is read from the schemas of graphs, which don't change while a process lives. A graph that a function makes may have
 * others for each assistant, whose config the function sees: they are read for each version of an assistant, and other tenants
 * never see them.
 */
export class SchemasCache<T> {
  private readonly ofGraph = new Map<string, { key: string; value: Promise<T> }>();
  private readonly ofAssistant = new LRUCache<string, Promise<T>>({ max: MAX_ASSISTANTS });

  constructor(private readonly graphs: Pick<GraphHosts, 'isFixed'>) {}

  /** @param read is called again after it has failed */
  async get(tenantId: TenantId, assistant: Described, read: () => Promise<T>): Promise<T> {
    const { assistantId, graphId, version, createdAt } = assistant;
    // An assistant may be deleted and created again with the same id, and its versions begin at 1 again.
    const key = `${tenantId} ${assistantId} ${createdAt.getTime()} ${version}`;
    let first = this.ofGraph.get(graphId);
    if (!first) {
      first = { key, value: read() };
      this.ofGraph.set(graphId, first);
      first.value.catch(() => this.ofGraph.delete(graphId));
    }
    // Whether a function makes the graph is known once it is loaded.
    const value = await first.value;
    return first.key === key || this.graphs.isFixed(graphId) ? value : this.own(key, read);
  }

  private own(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.ofAssistant.get(key);
    if (known) return known;
    const value = read();
    this.ofAssistant.set(key, value);
    value.catch(() => this.ofAssistant.delete(key));
    return value;
  }
}
