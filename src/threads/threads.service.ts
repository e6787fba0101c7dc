import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { AccessFilter } from '../auth/custom/access-filter';
import { Authorizer } from '../auth/custom/authorizer';
import type { TenantId } from '../auth/tenant';
import type { JsonObject } from '../database/json';
import { GraphRegistry } from '../graphs/graph-registry';
import { GraphHosts } from '../graphs/host/graph-hosts';
import { GraphCallRefused } from '../graphs/host/graph-process.errors';
import { selectFields } from '../graphs/host/state-selection';
import type { CheckpointReference, GraphCall, GraphCalls, GraphTarget } from '../graphs/host/protocol';
import type { Page } from '../http/pagination';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import { StateCache } from './state-cache';
import type { ThreadEntity } from './thread.entity';
import { threadErrors } from './thread.errors';
import type { ThreadState } from './thread-edits';
import { type StateOrigin, ThreadsRepository } from './threads.repository';
import type {
  CreateThread,
  HistoryQuery,
  PatchThread,
  PruneThreads,
  SearchThreads,
  StateOptions,
  Supersteps,
  ThreadFilter,
  ThreadStorage,
  UpdatedState,
  UpdateState,
} from './threads.schemas';

/** The state of a thread that no graph has run on. */
const EMPTY_STATE = {
  values: {},
  next: [],
  tasks: [],
  metadata: {},
  created_at: null,
  checkpoint: null,
  parent_checkpoint: null,
  interrupts: [],
  checkpoint_id: null,
  parent_checkpoint_id: null,
};

type ThreadOrigin = Pick<ThreadEntity, 'tenantId' | 'metadata' | 'config'>;

const DELETE_BATCH = 100;

@Injectable()
export class ThreadsService {
  private readonly states = new StateCache();

  constructor(
    private readonly repository: ThreadsRepository,
    private readonly registry: GraphRegistry,
    private readonly graphs: GraphHosts,
    private readonly orchestrator: RunOrchestrator,
    private readonly authorizer: Authorizer,
  ) {}

  /** Finds a thread without asking the custom auth, for callers who were authorised for one of its runs. */
  findThread(tenantId: TenantId, threadId: string): Promise<ThreadEntity | null> {
    return this.repository.findThread(tenantId, threadId);
  }

  /** @throws {ApiError} 422 for a thread whose state a graph can't read, as it is that of the other language */
  checkLanguage(tenantId: TenantId, threadId: string, graphId: string): Promise<void> {
    return this.repository.checkLanguage({ tenantId, threadId }, this.registry, graphId);
  }

  async getThread(tenantId: TenantId, threadId: string): Promise<ThreadEntity> {
    const { filter } = await this.authorizer.authorize('threads', 'read', { thread_id: threadId });
    return this.accessible(tenantId, threadId, filter);
  }

  /** The thread, or null if there is none. @throws {ApiError} 404 for a thread that the custom auth excludes */
  async getIfThere(tenantId: TenantId, threadId: string): Promise<ThreadEntity | null> {
    const { filter } = await this.authorizer.authorize('threads', 'read', { thread_id: threadId });
    const thread = await this.repository.findThread(tenantId, threadId);
    if (thread) await this.checkAccess(tenantId, threadId, filter);
    return thread;
  }

  /** Whether a user whom this filter restricts has the thread, a temporary one too. */
  async isAccessible(tenantId: TenantId, threadId: string, filter: AccessFilter | undefined): Promise<boolean> {
    return filter === undefined || this.repository.isAccessible(tenantId, threadId, filter);
  }

  /** Makes the thread of a stateless run an ordinary one that lives for some hours after its last use, to wait for an answer. */
  keepFor(tenantId: TenantId, threadId: string, hours: number): Promise<void> {
    return this.repository.keepFor(tenantId, threadId, hours);
  }

  async createThread(tenantId: TenantId, body: CreateThread): Promise<ThreadEntity> {
    const { supersteps = [] } = body;
    if (supersteps.length > 0) this.requireTarget({ tenantId, metadata: body.metadata ?? {}, config: {} });
    const threadId = body.thread_id ?? uuidv7();
    const ttl = body.ttl ?? this.registry.threadTtl.default;
    const requested = { thread_id: threadId, metadata: body.metadata ?? {}, if_exists: body.if_exists, ttl };
    const { value, filter } = await this.authorizer.authorize('threads', 'create', requested);
    const inserted = await this.repository.insertThread(tenantId, threadId, value.metadata, ttl);
    if (inserted) {
      if (supersteps.length === 0) return inserted;
      await this.replay(tenantId, threadId, value.metadata, supersteps);
      return this.accessible(tenantId, threadId);
    }
    const existing =
      body.if_exists === 'do_nothing' ? await this.repository.findThread(tenantId, threadId, filter) : null;
    if (!existing) throw threadErrors.exists(threadId);
    return existing;
  }

  async patchThread(tenantId: TenantId, threadId: string, body: PatchThread): Promise<ThreadEntity> {
    const requested = { thread_id: threadId, metadata: body.metadata ?? {} };
    const { value, filter } = await this.authorizer.authorize('threads', 'update', requested);
    await this.checkAccess(tenantId, threadId, filter);
    const thread = await this.repository.updateThread(tenantId, threadId, value.metadata, body.ttl);
    if (!thread) throw threadErrors.notFound(threadId);
    return thread;
  }

  async deleteThread(tenantId: TenantId, threadId: string): Promise<void> {
    const { filter } = await this.authorizer.authorize('threads', 'delete', { thread_id: threadId });
    await this.checkAccess(tenantId, threadId, filter);
    if (!(await this.remove(tenantId, threadId))) throw threadErrors.notFound(threadId);
  }

  /**
   * Deletes threads, or prunes them to their latest state; resolves to their number. Unknown threads are skipped.
   * @throws {ApiError} 404 when the custom auth excludes one of them
   */
  async prune(tenantId: TenantId, { thread_ids, strategy }: PruneThreads): Promise<number> {
    const threadIds = [...new Set(thread_ids)];
    for (const threadId of threadIds) {
      const { filter } = await this.authorizer.authorize('threads', 'delete', { thread_id: threadId });
      await this.checkAccess(tenantId, threadId, filter);
    }
    let countThreads = 0;
    for (const threadId of threadIds) {
      if (strategy === 'keep_latest') countThreads += (await this.repository.keepLatest(tenantId, threadId)) ? 1 : 0;
      else countThreads += (await this.remove(tenantId, threadId)) ? 1 : 0;
    }
    return countThreads;
  }

  /** Deletes the threads that an assistant ran on last, without those that the custom auth doesn't let the user delete. */
  async deleteOfAssistant(tenantId: TenantId, assistantId: string): Promise<void> {
    let after: string | undefined;
    do {
      const page = { limit: DELETE_BATCH, after };
      const threadIds = await this.repository.findIdsOfAssistant(tenantId, assistantId, page);
      for (const threadId of threadIds) {
        // Another caller may delete them as well.
        if (await this.isDeletable(tenantId, threadId)) await this.remove(tenantId, threadId);
      }
      after = threadIds.length < DELETE_BATCH ? undefined : threadIds.at(-1);
    } while (after !== undefined);
  }

  /** Requires the rights to read the thread and to create one. */
  async copyThread(tenantId: TenantId, threadId: string): Promise<ThreadEntity> {
    await this.getThread(tenantId, threadId);
    const copyId = uuidv7();
    const requested = { thread_id: copyId, metadata: {}, if_exists: 'raise' };
    const { value } = await this.authorizer.authorize('threads', 'create', requested);
    const copy = await this.repository.copyThread(tenantId, threadId, copyId, value.metadata);
    if (!copy) throw threadErrors.notFound(threadId);
    return copy;
  }

  async searchThreads(tenantId: TenantId, search: SearchThreads): Promise<Page<ThreadEntity>> {
    const { value, filter } = await this.authorizeSearch(search);
    return this.repository.searchThreads(tenantId, { ...search, ...value }, filter);
  }

  async countThreads(tenantId: TenantId, search: ThreadFilter): Promise<number> {
    const { value, filter } = await this.authorizeSearch(search);
    return this.repository.countThreads(tenantId, { ...search, ...value }, filter);
  }

  async readStorage(tenantId: TenantId, threadId: string): Promise<ThreadStorage> {
    await this.getThread(tenantId, threadId);
    return this.repository.readStorage(tenantId, threadId);
  }

  /** The state of the thread, now or at a checkpoint, as JSON text. */
  async readState(
    tenantId: TenantId,
    threadId: string,
    { checkpoint, subgraphs = false, select }: StateOptions & { checkpoint?: CheckpointReference } = {},
  ): Promise<string> {
    const { filter } = await this.authorizer.authorize('threads', 'read', { thread_id: threadId });
    const origin = await this.repository.findOrigin(tenantId, threadId, filter);
    if (!origin) throw threadErrors.notFound(threadId);
    const target = this.targetOf(origin);
    if (!target) return JSON.stringify(selectFields(EMPTY_STATE, select));
    const options = { subgraphs, ...(checkpoint && { checkpoint }), ...(select && { select }) };
    const read = (): Promise<string> => this.ask('getState', { ...target, threadId, ...options });
    const isNewest = !checkpoint && !subgraphs;
    return isNewest && this.isKept(origin, target) ? this.states.get(origin, select, read) : read();
  }

  /** States from the newest back, as JSON text. */
  async readHistory(tenantId: TenantId, threadId: string, query: HistoryQuery): Promise<string> {
    const target = this.targetOf(await this.getThread(tenantId, threadId));
    if (!target) return '[]';
    const { limit, before, metadata, checkpoint, select } = query;
    return this.ask('getHistory', {
      ...target,
      threadId,
      limit,
      ...(before && { before: { checkpoint_id: before } }),
      ...(metadata && { filter: metadata }),
      ...(checkpoint && { checkpoint }),
      ...(select && { select }),
    });
  }

  /** Writes values into the state as if a node had returned them. */
  async updateState(tenantId: TenantId, threadId: string, body: UpdateState): Promise<UpdatedState> {
    const { filter } = await this.authorizer.authorize('threads', 'update', { thread_id: threadId, metadata: {} });
    const thread = await this.accessible(tenantId, threadId, filter);
    if (thread.status === 'busy') throw threadErrors.busy();
    const target = this.requireTarget(thread);
    const checkpoint = body.checkpoint ?? (body.checkpoint_id ? { checkpoint_id: body.checkpoint_id } : undefined);
    const updated = await this.repository.edit(tenantId, threadId, () =>
      this.edit('updateState', {
        ...target,
        threadId,
        values: body.values ?? null,
        ...(checkpoint && { checkpoint }),
        ...(body.as_node && { asNode: body.as_node }),
      }),
    );
    if (!updated) throw threadErrors.notFound(threadId);
    // A run was created since the first look.
    if (updated === 'busy') throw threadErrors.busy();
    const { checkpoint: written } = updated;
    return { checkpoint: written, configurable: written, checkpoint_id: String(written.checkpoint_id) };
  }

  /** Writes given states into a new thread; if the graph refuses one, the thread is not created. */
  private async replay(
    tenantId: TenantId,
    threadId: string,
    metadata: JsonObject,
    supersteps: Supersteps,
  ): Promise<void> {
    let written: unknown;
    try {
      const target = this.requireTarget({ tenantId, metadata, config: {} });
      written = await this.repository.edit(tenantId, threadId, () =>
        this.edit('replaySupersteps', {
          ...target,
          threadId,
          supersteps: supersteps.map(({ updates }) =>
            updates.map(({ values, command, as_node }) => ({
              asNode: as_node,
              ...(command ? { command } : { values: values ?? null }),
            })),
          ),
        }),
      );
    } catch (error) {
      await this.repository.deleteThread(tenantId, threadId);
      throw error;
    }
    // Another client's run is on the thread already, which therefore stays.
    if (written === 'busy') throw threadErrors.busy();
  }

  private async isDeletable(tenantId: TenantId, threadId: string): Promise<boolean> {
    const allowed = await this.authorizer.authorizeIfAllowed('threads', 'delete', { thread_id: threadId });
    return allowed !== undefined && this.isAccessible(tenantId, threadId, allowed.filter);
  }

  /** Resolves to false when there is no such thread. */
  private async remove(tenantId: TenantId, threadId: string): Promise<boolean> {
    const inFlight = await this.repository.deleteThread(tenantId, threadId);
    // Doesn't wait: the rows are deleted, so a workflow that this doesn't reach ends when it reads them next.
    void Promise.allSettled((inFlight ?? []).map((runId) => this.orchestrator.cancelRun(runId)));
    return inFlight !== null;
  }

  private async edit<N extends 'updateState' | 'replaySupersteps'>(
    name: N,
    args: GraphCalls[N],
  ): Promise<ThreadState & { checkpoint: Record<string, unknown> }> {
    return JSON.parse(await this.ask(name, args)) as ThreadState & { checkpoint: Record<string, unknown> };
  }

  /** @throws 400 with the graph's error: an unknown node or subgraph, values that don't fit */
  private async ask<N extends GraphCall>(name: N, args: GraphCalls[N]): Promise<string> {
    try {
      return await this.graphs.call(name, args);
    } catch (error) {
      throw error instanceof GraphCallRefused ? threadErrors.stateRefused(error.message) : error;
    }
  }

  /** The graph that ran last on the thread, with the config of that run; undefined where none did. */
  private targetOf({ tenantId, metadata, config }: ThreadOrigin): GraphTarget | undefined {
    const graphId = this.graphOf(metadata);
    return graphId === undefined ? undefined : { graphId, tenantId, metadata, config };
  }

  private requireTarget(thread: ThreadOrigin): GraphTarget {
    const target = this.targetOf(thread);
    if (!target) throw threadErrors.noGraph();
    return target;
  }

  /** Whether the newest state changes with the thread's version alone. */
  private isKept({ status }: StateOrigin, { graphId }: GraphTarget): boolean {
    // An encryption's functions may refuse a value to one reader and not to another.
    return status !== 'busy' && !this.registry.config.encryption && this.graphs.isFixed(graphId);
  }

  private authorizeSearch({ metadata = {}, status, values, ids }: ThreadFilter) {
    return this.authorizer.authorize('threads', 'search', { metadata, status, values, ids });
  }

  /** @throws {ApiError} 404 also for a thread that the filter excludes */
  private async accessible(tenantId: TenantId, threadId: string, filter?: AccessFilter): Promise<ThreadEntity> {
    const thread = await this.repository.findThread(tenantId, threadId, filter);
    if (!thread) throw threadErrors.notFound(threadId);
    return thread;
  }

  private async checkAccess(tenantId: TenantId, threadId: string, filter: AccessFilter | undefined): Promise<void> {
    if (filter) await this.accessible(tenantId, threadId, filter);
  }

  private graphOf({ graph_id: graphId }: JsonObject): string | undefined {
    return typeof graphId === 'string' && this.registry.has(graphId) ? graphId : undefined;
  }
}
