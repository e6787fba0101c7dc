import { Body, Get, HttpCode, Param, Post, Query, Req, Res, UseInterceptors } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { AliasedController } from '../../http/aliased-controller';
import { Tenant } from '../../auth/tenant';
import type { TenantId } from '../../auth/tenant';
import { SearchRoute } from '../../http/search-route';
import { RouteTags } from '../../http/route-tags';
import { ExactNumbers } from '../query/exact-numbers.interceptor';
import { PAGE_OR_STREAM, sendPage } from '../query/page-stream';
import {
  toRunGroup,
  toThread,
  toThreadsStats,
  toThreadsStatsSeries,
  toThreadStats,
  toTurn,
} from './trace-thread.mapper';
import {
  groupRunsSchema,
  queryThreadsSchema,
  threadParamsSchema,
  threadsStatsSchema,
  threadStatsSchema,
  threadTracesSchema,
} from './trace-threads.schemas';
import type {
  GroupRuns,
  QueryThreads,
  ThreadsStatsQuery,
  ThreadStatsQuery,
  ThreadTracesQuery,
} from './trace-threads.schemas';
import { TraceThreadsService } from './trace-threads.service';

type ThreadParams = z.output<typeof threadParamsSchema>;

/** Conversation threads of traced runs, which are not the threads of the deployment API. */
@RouteTags('Trace queries (v2)')
@UseInterceptors(ExactNumbers)
@AliasedController('api/v2/threads', 'v2/threads')
export class TraceThreadsController {
  constructor(private readonly threads: TraceThreadsService) {}

  /** Threads with a trace in the window, those with the newest one first; without a window the last day. */
  @Post('query')
  @SearchRoute()
  @HttpCode(200)
  @ApiOperation({ summary: 'Query traced threads' })
  @ApiOkResponse(PAGE_OR_STREAM)
  async query(
    @Tenant() tenantId: TenantId,
    @Body({ schema: queryThreadsSchema }) body: QueryThreads,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendPage(request, reply, body, async (page) => {
      const { threads, next } = await this.threads.query(tenantId, { ...body, ...page });
      return { items: threads.map(toThread), next };
    });
  }

  /**
   * Statistics of threads; with a `stride`, as a time series in which a thread counts in the bucket in which its newest
   * trace began.
   */
  @Post('stats')
  @SearchRoute()
  @HttpCode(200)
  @ApiOperation({ summary: 'Statistics of all traced threads of a project' })
  async statsOfAll(@Tenant() tenantId: TenantId, @Body({ schema: threadsStatsSchema }) body: ThreadsStatsQuery) {
    const { select, stride } = body;
    if (stride) return toThreadsStatsSeries(await this.threads.statsOverTime(tenantId, body, stride), select);
    return toThreadsStats(await this.threads.statsOfAll(tenantId, body), body.select);
  }

  @Get(':thread_id/stats')
  @SearchRoute()
  @ApiOperation({ summary: 'Statistics of a traced thread' })
  async statsOfOne(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadParamsSchema }) { thread_id: threadId }: ThreadParams,
    @Query({ schema: threadStatsSchema }) query: ThreadStatsQuery,
  ) {
    return toThreadStats(await this.threads.statsOfOne(tenantId, threadId, query), query.selects);
  }

  /** The oldest first. */
  @Get(':thread_id/traces')
  @SearchRoute()
  @ApiOperation({ summary: 'List the traces of a traced thread' })
  async traces(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadParamsSchema }) { thread_id: threadId }: ThreadParams,
    @Query({ schema: threadTracesSchema }) query: ThreadTracesQuery,
  ) {
    const { turns, next } = await this.threads.traces(tenantId, threadId, query);
    return {
      items: turns.map((turn) => toTurn(turn, query.selects ?? [])),
      has_more: next !== null,
      next_cursor: next,
    };
  }
}

@RouteTags('Trace queries')
@UseInterceptors(ExactNumbers)
@AliasedController('api/v1/runs', 'api/runs', 'runs')
export class RunGroupsController {
  constructor(private readonly threads: TraceThreadsService) {}

  /** One group for each thread with a trace in the window; without a window the last day. */
  @Post('group')
  @SearchRoute()
  @HttpCode(200)
  @ApiOperation({ summary: 'Group traced runs by thread' })
  async group(@Tenant() tenantId: TenantId, @Body({ schema: groupRunsSchema }) body: GroupRuns) {
    const { threads, total } = await this.threads.group(tenantId, body);
    return { groups: threads.map(toRunGroup), total };
  }
}
