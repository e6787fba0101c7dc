import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../auth/tenant';
import { GraphRegistry } from '../graphs/graph-registry';
import { GraphHost } from '../graphs/host/graph-host';
import { GraphCallRefused } from '../graphs/host/graph-thread-handle';
import type { CheckpointReference } from '../graphs/host/protocol';
import type { Page } from '../http/pagination';
import { RunOrchestrator } from '../temporal/run-orchestrator';
import type { ThreadEntity } from './thread.entity';
import { threadErrors } from './thread.errors';
import { ThreadsRepository, type ThreadState } from './threads.repository';
import type {
  CreateThread,
  HistoryQuery,
  PatchThread,
  SearchThreads,
  ThreadFilter,
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

@Injectable()
export class ThreadsService {
  constructor(
    private readonly repository: ThreadsRepository,
    private readonly registry: GraphRegistry,
    private readonly graphs: GraphHost,
    private readonly orchestrator: RunOrchestrator,
  ) {}

  find(tenantId: TenantId, threadId: string): Promise<ThreadEntity | null> {
    return this.repository.find(tenantId, threadId);
  }

  async get(tenantId: TenantId, threadId: string): Promise<ThreadEntity> {
    const thread = await this.find(tenantId, threadId);
    if (!thread) throw threadErrors.notFound(threadId);
    return thread;
  }

  async create(tenantId: TenantId, body: CreateThread): Promise<ThreadEntity> {
    const threadId = body.thread_id ?? uuidv7();
    const inserted = await this.repository.insert(tenantId, threadId, body.metadata ?? {});
    if (inserted) return this.get(tenantId, threadId);
    const existing = body.if_exists === 'do_nothing' ? await this.repository.find(tenantId, threadId) : null;
    if (!existing) throw threadErrors.exists(threadId);
    return existing;
  }

  async patch(tenantId: TenantId, threadId: string, body: PatchThread): Promise<ThreadEntity> {
    const thread = await this.repository.mergeMetadata(tenantId, threadId, body.metadata ?? {});
    if (!thread) throw threadErrors.notFound(threadId);
    return thread;
  }

  async delete(tenantId: TenantId, threadId: string): Promise<void> {
    const inFlight = await this.repository.delete(tenantId, threadId);
    if (!inFlight) throw threadErrors.notFound(threadId);
    // The rows are gone, so a workflow that this doesn't reach ends at its next look at them.
    await Promise.allSettled(inFlight.map((runId) => this.orchestrator.cancel(runId)));
  }

  async copy(tenantId: TenantId, threadId: string): Promise<ThreadEntity> {
    const copy = await this.repository.copy(tenantId, threadId, uuidv7());
    if (!copy) throw threadErrors.notFound(threadId);
    return copy;
  }

  search(tenantId: TenantId, search: SearchThreads): Promise<Page<ThreadEntity>> {
    return this.repository.search(tenantId, search);
  }

  count(tenantId: TenantId, filter: ThreadFilter): Promise<number> {
    return this.repository.count(tenantId, filter);
  }

  /** The state of the thread, now or at a checkpoint, as JSON text. */
  async state(
    tenantId: TenantId,
    threadId: string,
    checkpoint?: CheckpointReference,
    subgraphs = false,
  ): Promise<string> {
    const graphId = this.graphOf(await this.get(tenantId, threadId));
    if (!graphId) return JSON.stringify(EMPTY_STATE);
    return this.graphs.call('getState', { graphId, threadId, subgraphs, ...(checkpoint && { checkpoint }) });
  }

  /** States from the newest back, as JSON text. */
  async history(tenantId: TenantId, threadId: string, query: HistoryQuery): Promise<string> {
    const graphId = this.graphOf(await this.get(tenantId, threadId));
    if (!graphId) return '[]';
    const { limit, before, metadata, checkpoint } = query;
    return this.graphs.call('getHistory', {
      graphId,
      threadId,
      limit,
      ...(before && { before: { checkpoint_id: before } }),
      ...(metadata && { metadata }),
      ...(checkpoint && { checkpoint }),
    });
  }

  /** Writes values into the state as if a node had returned them. */
  async updateState(tenantId: TenantId, threadId: string, body: UpdateState): Promise<UpdatedState> {
    const thread = await this.get(tenantId, threadId);
    if (thread.status === 'busy') throw threadErrors.busy();
    const graphId = this.graphOf(thread);
    if (!graphId) throw threadErrors.noGraph();
    const checkpoint = body.checkpoint ?? (body.checkpoint_id ? { checkpoint_id: body.checkpoint_id } : undefined);
    const answer = await this.graphs
      .call('updateState', {
        graphId,
        threadId,
        values: body.values ?? null,
        ...(checkpoint && { checkpoint }),
        ...(body.as_node && { asNode: body.as_node }),
      })
      .catch((error: unknown) => {
        throw error instanceof GraphCallRefused ? threadErrors.stateRefused(error.message) : error;
      });
    const updated = JSON.parse(answer) as ThreadState & { checkpoint: Record<string, unknown> };
    await this.repository.saveState(tenantId, threadId, updated);
    const { checkpoint: written } = updated;
    return { checkpoint: written, configurable: written, checkpoint_id: String(written.checkpoint_id) };
  }

  private graphOf(thread: ThreadEntity): string | undefined {
    const { graph_id: graphId } = thread.metadata;
    return typeof graphId === 'string' && this.registry.has(graphId) ? graphId : undefined;
  }
}
