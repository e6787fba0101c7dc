import { Injectable } from '@nestjs/common';
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
  type Server,
} from '@modelcontextprotocol/server';
import type { TenantId } from '../auth/tenant';
import { GraphRegistry } from '../graphs/graph-registry';
import { ApiError } from '../http/api-error';
import { toApiTime } from '../http/api-time';
import { uuid } from '../http/uuid';
import { StoreService } from '../store/store.service';
import type { ThreadEntity } from '../threads/thread.entity';
import { toThread } from '../threads/thread.mapper';
import { ThreadsService } from '../threads/threads.service';
import { itemTemplate, parseUri, type ResourceAddress, THREAD_TEMPLATE, toUri } from './resource-uris';

const PAGE = 100;
const JSON_TYPE = 'application/json';
/** The place in the list after which a page begins: a source, and how many of its resources came before. */
const CURSOR = /^(\d{1,6}):(\d{1,9})$/;

/** Reads one page of the resources of a graph or a namespace. */
type Source = (tenantId: TenantId, page: { limit: number; offset: number }) => Promise<Resource[]>;

/** Threads and items of the store as resources, where a graph of langgraph.json declares them. */
@Injectable()
export class McpResourcesService {
  private readonly graphIds: ReadonlySet<string>;
  private readonly namespaces: string[][];
  private readonly sources: Source[];

  constructor(
    registry: GraphRegistry,
    private readonly threads: ThreadsService,
    private readonly store: StoreService,
  ) {
    const declared = registry.graphs.flatMap(({ graphId, mcp }) =>
      mcp?.resources ? { graphId, ...mcp.resources } : [],
    );
    this.graphIds = new Set(declared.flatMap(({ graphId, threads: areThreads }) => (areThreads ? [graphId] : [])));
    this.namespaces = withoutNested(declared.flatMap((each) => each.store));
    this.sources = [
      ...[...this.graphIds].map((graphId) => this.threadsOf(graphId)),
      ...this.namespaces.map((namespace) => this.itemsOf(namespace)),
    ];
  }

  /** Whether any graph declares resources: otherwise the capability isn't declared. */
  get areDeclared(): boolean {
    return this.sources.length > 0;
  }

  /** Lets a server answer the methods for resources, on behalf of the caller. */
  serve(server: Server, tenantId: TenantId): void {
    server.setRequestHandler('resources/list', ({ params }) => this.list(tenantId, params?.cursor));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: this.templates() }));
    server.setRequestHandler('resources/read', ({ params }) => this.read(tenantId, params.uri));
  }

  /** @throws {ProtocolError} -32602 for a cursor that is none of this server's */
  private async list(
    tenantId: TenantId,
    cursor: string | undefined,
  ): Promise<{ resources: Resource[]; nextCursor?: string }> {
    let [place, offset] = cursor === undefined ? [0, 0] : readCursor(cursor);
    const resources: Resource[] = [];
    for (; place < this.sources.length; place += 1, offset = 0) {
      const limit = PAGE - resources.length;
      const found = await this.sources[place](tenantId, { limit, offset });
      resources.push(...found);
      if (found.length === limit) return { resources, nextCursor: writeCursor(place, offset + limit) };
    }
    return { resources };
  }

  private templates(): ResourceTemplateType[] {
    const shared = { mimeType: JSON_TYPE };
    return [
      ...(this.graphIds.size > 0 ? [{ name: 'thread', title: 'Thread', uriTemplate: THREAD_TEMPLATE, ...shared }] : []),
      ...this.namespaces.map((namespace) => ({
        name: namespace.join('.'),
        title: `Items of ${namespace.join('.')}`,
        uriTemplate: itemTemplate(namespace),
        ...shared,
      })),
    ];
  }

  /** @throws {ProtocolError} that the resource was not found, also where the caller may not read it */
  private async read(tenantId: TenantId, uri: string): Promise<ReadResourceResult> {
    const address = parseUri(uri);
    const value = address && (await this.find(tenantId, address));
    if (!value) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(value) }] };
  }

  private async find(tenantId: TenantId, address: ResourceAddress): Promise<object | undefined> {
    try {
      if ('threadId' in address) {
        const id = uuid.safeParse(address.threadId);
        const thread = id.success ? await this.threads.getThread(tenantId, id.data) : undefined;
        return thread && this.graphIds.has(String(thread.metadata.graph_id)) ? toThread(thread) : undefined;
      }
      const { namespace, key } = address;
      if (!this.namespaces.some((declared) => isWithin(namespace, declared))) return undefined;
      const item = await this.store.getItem(tenantId, { namespace }, key);
      if (!item) return undefined;
      const { value, createdAt, updatedAt } = item;
      return { namespace, key, value, created_at: toApiTime(createdAt), updated_at: toApiTime(updatedAt) };
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return undefined;
      throw error;
    }
  }

  private threadsOf(graphId: string): Source {
    return async (tenantId, page) => {
      const search = { ...page, metadata: { graph_id: graphId }, sort_by: 'created_at', sort_order: 'desc' } as const;
      const { items } = await this.threads.searchThreads(tenantId, search);
      return items.map((thread) => toThreadResource(thread, graphId));
    };
  }

  private itemsOf(namespace: string[]): Source {
    return async (tenantId, page) => {
      const items = await this.store.searchItems(tenantId, { ...page, namespace_prefix: namespace });
      return items.map((item) => ({
        uri: toUri(item),
        name: item.key,
        description: `Item of ${item.namespace.join('.')}`,
        mimeType: JSON_TYPE,
        annotations: { lastModified: item.updatedAt.toISOString() },
      }));
    };
  }
}

function toThreadResource({ threadId, status, updatedAt }: ThreadEntity, graphId: string): Resource {
  return {
    uri: toUri({ threadId }),
    name: threadId,
    description: `Thread of ${graphId}, ${status}`,
    mimeType: JSON_TYPE,
    annotations: { lastModified: updatedAt.toISOString() },
  };
}

const isWithin = (namespace: string[], prefix: string[]): boolean =>
  prefix.every((label, index) => label === namespace[index]);

/** Each item is listed once, also where one namespace contains another. */
function withoutNested(namespaces: string[][]): string[][] {
  return namespaces.filter(
    (own, index) =>
      !namespaces.some((other, place) => {
        return place !== index && isWithin(own, other) && (other.length < own.length || place < index);
      }),
  );
}

const writeCursor = (place: number, offset: number): string => Buffer.from(`${place}:${offset}`).toString('base64url');

function readCursor(cursor: string): [place: number, offset: number] {
  const [, place, offset] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (place === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor');
  return [Number(place), Number(offset)];
}
