import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  Headers,
  HttpCode,
  Param,
  Patch,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { SearchRoute } from '../http/search-route';
import { paginate } from '../http/pagination';
import { RouteTags } from '../http/route-tags';
import { toFoundThread, toThread, toThreadWithTtl } from './thread.mapper';
import {
  countThreadsSchema,
  type CreateThread,
  createThreadSchema,
  foundThreadSchema,
  getThreadQuery,
  type FoundThread,
  historyQuery,
  type HistoryQuery,
  historySchema,
  type PatchThread,
  patchThreadSchema,
  type PrunedThreads,
  prunedThreadsSchema,
  type PruneThreads,
  pruneThreadsSchema,
  type SearchThreads,
  searchThreadsSchema,
  type StateAtCheckpoint,
  stateAtCheckpointSchema,
  type StateOptions,
  stateQuery,
  type Thread,
  threadCheckpointParam,
  type ThreadFilter,
  threadIdParam,
  threadSchema,
  threadStateSchema,
  threadStorageSchema,
  type ThreadStorage,
  updatedStateSchema,
  type UpdatedState,
  type UpdateState,
  updateStateSchema,
} from './threads.schemas';
import { ThreadsService } from './threads.service';

type IdParam = z.infer<typeof threadIdParam>;
const JSON_TYPE = 'application/json; charset=utf-8';

/** Threads: the state that runs accumulate, with its history. */
@RouteTags('Threads')
@CustomAuthDecides()
@Controller('threads')
export class ThreadsController {
  constructor(private readonly threads: ThreadsService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a thread' })
  @ApiOkResponse({ standardSchema: threadSchema })
  async create(
    @Tenant() tenantId: TenantId,
    @Body({ schema: createThreadSchema.prefault({}) }) body: CreateThread,
  ): Promise<Thread> {
    return toThread(await this.threads.createThread(tenantId, body));
  }

  @Post('search')
  @SearchRoute()
  @HttpCode(200)
  @ApiOperation({ summary: 'Search threads' })
  @ApiOkResponse({ standardSchema: z.array(foundThreadSchema) })
  async search(
    @Tenant() tenantId: TenantId,
    @Body({ schema: searchThreadsSchema.prefault({}) }) body: SearchThreads,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FoundThread[]> {
    const page = await this.threads.searchThreads(tenantId, body);
    return paginate(reply, page, body.offset).map((row) => toFoundThread(row, body));
  }

  @Post('count')
  @SearchRoute()
  @HttpCode(200)
  @ApiOperation({ summary: 'Count threads' })
  @ApiOkResponse({ standardSchema: z.number().int() })
  count(
    @Tenant() tenantId: TenantId,
    @Body({ schema: countThreadsSchema.prefault({}) }) body: ThreadFilter,
  ): Promise<number> {
    return this.threads.countThreads(tenantId, body);
  }

  /** Skips unknown threads and, with `keep_latest`, those with a run in flight. */
  @Post('prune')
  @HttpCode(200)
  @ApiOperation({ summary: 'Delete threads, or prune them to their latest state' })
  @ApiOkResponse({ standardSchema: prunedThreadsSchema })
  async prune(
    @Tenant() tenantId: TenantId,
    @Body({ schema: pruneThreadsSchema }) body: PruneThreads,
  ): Promise<PrunedThreads> {
    return { pruned_count: await this.threads.prune(tenantId, body) };
  }

  @Get(':thread_id')
  @ApiOperation({ summary: 'Get a thread' })
  @ApiOkResponse({ standardSchema: threadSchema })
  async get(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadIdParam }) { thread_id }: IdParam,
    @Query({ schema: getThreadQuery }) { include }: z.infer<typeof getThreadQuery>,
  ): Promise<Thread> {
    const thread = await this.threads.getThread(tenantId, thread_id);
    return include.has('ttl') ? toThreadWithTtl(thread) : toThread(thread);
  }

  @Patch(':thread_id')
  @ApiOperation({ summary: "Merge into a thread's metadata, and set its time to live" })
  @ApiOkResponse({ standardSchema: threadSchema })
  async patch(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadIdParam }) { thread_id }: IdParam,
    @Body({ schema: patchThreadSchema.prefault({}) }) body: PatchThread,
    @Headers('prefer') prefer: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Thread | undefined> {
    const thread = await this.threads.patchThread(tenantId, thread_id, body);
    if (!prefer?.includes('return=minimal')) return toThread(thread);
    void reply.status(204);
    return undefined;
  }

  @Delete(':thread_id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete a thread with its runs and checkpoints' })
  delete(@Tenant() tenantId: TenantId, @Param({ schema: threadIdParam }) { thread_id }: IdParam): Promise<void> {
    return this.threads.deleteThread(tenantId, thread_id);
  }

  @Post(':thread_id/copy')
  @HttpCode(200)
  @ApiOperation({ summary: 'Copy a thread with its checkpoints' })
  @ApiOkResponse({ standardSchema: threadSchema })
  async copy(@Tenant() tenantId: TenantId, @Param({ schema: threadIdParam }) { thread_id }: IdParam): Promise<Thread> {
    return toThread(await this.threads.copyThread(tenantId, thread_id));
  }

  @Get(':thread_id/state')
  @Header('content-type', JSON_TYPE)
  @ApiOperation({ summary: "The thread's state" })
  @ApiOkResponse({ standardSchema: threadStateSchema.partial() })
  state(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadIdParam }) { thread_id }: IdParam,
    @Query({ schema: stateQuery }) options: StateOptions,
  ): Promise<string> {
    return this.threads.readState(tenantId, thread_id, options);
  }

  @Post(':thread_id/state')
  @HttpCode(200)
  @ApiOperation({ summary: "Edit the thread's state" })
  @ApiOkResponse({ standardSchema: updatedStateSchema })
  updateState(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadIdParam }) { thread_id }: IdParam,
    @Body({ schema: updateStateSchema }) body: UpdateState,
  ): Promise<UpdatedState> {
    return this.threads.updateState(tenantId, thread_id, body);
  }

  @Post(':thread_id/state/checkpoint')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @ApiOperation({ summary: 'The state at a checkpoint, or of a subgraph' })
  @ApiOkResponse({ standardSchema: threadStateSchema.partial() })
  stateAt(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadIdParam }) { thread_id }: IdParam,
    @Body({ schema: stateAtCheckpointSchema }) { checkpoint, ...options }: StateAtCheckpoint,
  ): Promise<string> {
    return this.threads.readState(tenantId, thread_id, { ...options, checkpoint });
  }

  @Get(':thread_id/state/:checkpoint_id')
  @Header('content-type', JSON_TYPE)
  @ApiOperation({ summary: 'The state at a checkpoint' })
  @ApiOkResponse({ standardSchema: threadStateSchema.partial() })
  stateAtId(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadCheckpointParam }) { thread_id, checkpoint_id }: z.infer<typeof threadCheckpointParam>,
    @Query({ schema: stateQuery }) options: StateOptions,
  ): Promise<string> {
    return this.threads.readState(tenantId, thread_id, { ...options, checkpoint: { checkpoint_id } });
  }

  @Get(':thread_id/storage')
  @ApiOperation({ summary: "Size of the thread's checkpoints in the database" })
  @ApiOkResponse({ standardSchema: threadStorageSchema })
  storage(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadIdParam }) { thread_id }: IdParam,
  ): Promise<ThreadStorage> {
    return this.threads.readStorage(tenantId, thread_id);
  }

  @Get(':thread_id/history')
  @Header('content-type', JSON_TYPE)
  @ApiOperation({ summary: 'Past states, newest first' })
  @ApiOkResponse({ standardSchema: z.array(threadStateSchema.partial()) })
  historyByQuery(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadIdParam }) { thread_id }: IdParam,
    @Query({ schema: historyQuery }) query: z.infer<typeof historyQuery>,
  ): Promise<string> {
    return this.threads.readHistory(tenantId, thread_id, query);
  }

  @Post(':thread_id/history')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @ApiOperation({ summary: 'Past states, newest first' })
  @ApiOkResponse({ standardSchema: z.array(threadStateSchema.partial()) })
  history(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadIdParam }) { thread_id }: IdParam,
    @Body({ schema: historySchema.prefault({}) }) body: HistoryQuery,
  ): Promise<string> {
    return this.threads.readHistory(tenantId, thread_id, body);
  }
}
