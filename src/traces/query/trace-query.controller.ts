import { Readable } from 'node:stream';
import {
  Body,
  Controller,
  Get,
  HttpCode,
  Param,
  Post,
  Query,
  Req,
  Res,
  StreamableFile,
  UseInterceptors,
} from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { AliasedController } from '../../http/aliased-controller';
import { Public, Tenant } from '../../auth/tenant';
import { SearchRoute } from '../../http/search-route';
import { RouteTags } from '../../http/route-tags';
import type { TenantId } from '../../auth/tenant';
import { runParamsSchema } from '../ingest/trace-ingest.schemas';
import { AttachmentsService } from '../attachments/attachments.service';
import { ExactNumbers } from './exact-numbers.interceptor';
import {
  attachmentParamsSchema,
  attachmentQuerySchema,
  deleteRunsSchema,
  queryRunsSchema,
  queryRunsV2Schema,
  queryTracesSchema,
  readRunSchema,
  readRunV2Schema,
  runStatsSchema,
  traceParamsSchema,
  traceRunsV2Schema,
  validateQuerySchema,
} from './trace-query.schemas';
import type {
  DeleteRuns,
  QueryRuns,
  QueryRunsV2,
  QueryTraces,
  ReadRunV2,
  RunStatsQuery,
  TraceRunsV2,
  ValidateQuery,
} from './trace-query.schemas';
import { PAGE_OR_STREAM, sendPage } from './page-stream';
import { TraceQueryService } from './trace-query.service';
import { toRunV1, toRunV2, toStats, toTrace } from './trace-run.mapper';

type RunParams = z.output<typeof runParamsSchema>;

const origin = (request: FastifyRequest): string => `${request.protocol}://${request.host}`;

@RouteTags('Trace queries')
@UseInterceptors(ExactNumbers)
@AliasedController('api/v1/runs', 'api/runs', 'runs')
export class TraceQueryController {
  constructor(private readonly queries: TraceQueryService) {}

  /** The newest runs first, by pages: `cursors.next` is the `cursor` of the next one, null after the last. */
  @Post('query')
  @SearchRoute()
  @HttpCode(200)
  @ApiOperation({ summary: 'Query traced runs' })
  async query(
    @Tenant() tenantId: TenantId,
    @Body({ schema: queryRunsSchema }) body: QueryRuns,
    @Req() request: FastifyRequest,
  ) {
    const { runs, next } = await this.queries.queryRuns(tenantId, body, origin(request));
    return {
      runs: runs.map(({ row, attachments }) => toRunV1(row, attachments)),
      cursors: { next },
      search_cursors: null,
      parsed_query: null,
    };
  }

  /** Counts, latencies, tokens and costs of the runs that a query would return; with `group_by` for each group. */
  @Post('stats')
  @SearchRoute()
  @HttpCode(200)
  @ApiOperation({ summary: 'Statistics of traced runs' })
  async stats(@Tenant() tenantId: TenantId, @Body({ schema: runStatsSchema }) body: RunStatsQuery) {
    if (!body.group_by) return toStats(await this.queries.stats(tenantId, body));
    const groups = await this.queries.statsByGroup(tenantId, body, body.group_by);
    return Object.fromEntries(groups.map(({ group_key: key, ...stats }) => [key, toStats(stats)]));
  }

  @Post('query/validate')
  @HttpCode(200)
  @ApiOperation({ summary: 'Check filters without running them' })
  validate(@Body({ schema: validateQuerySchema }) body: ValidateQuery) {
    const errors = this.queries.validate(body);
    return { valid: errors.length === 0, errors };
  }

  @Post('delete')
  @HttpCode(202)
  @ApiOperation({ summary: 'Delete traces' })
  async delete(@Tenant() tenantId: TenantId, @Body({ schema: deleteRunsSchema }) body: DeleteRuns) {
    const deleted = await this.queries.deleteTraces(tenantId, body.session_id, body.trace_ids);
    return { message: `${deleted} runs deleted` };
  }
}

/** The bare `GET /runs/{run_id}` is the deployment API's. */
@RouteTags('Trace queries')
@UseInterceptors(ExactNumbers)
@AliasedController('api/v1/runs', 'api/runs')
export class TraceRunController {
  constructor(private readonly queries: TraceQueryService) {}

  @Get(':run_id')
  @ApiOperation({ summary: 'Get a traced run' })
  async read(
    @Tenant() tenantId: TenantId,
    @Param({ schema: runParamsSchema }) params: RunParams,
    @Query({ schema: readRunSchema }) query: z.output<typeof readRunSchema>,
    @Req() request: FastifyRequest,
  ) {
    const { row, attachments } = await this.queries.readRun(tenantId, params.run_id, origin(request), query.session_id);
    return toRunV1(row, attachments);
  }
}

@RouteTags('Trace queries (v2)')
@UseInterceptors(ExactNumbers)
@AliasedController('api/v2', 'v2')
export class TraceQueryV2Controller {
  constructor(private readonly queries: TraceQueryService) {}

  /** Only the selected fields; without a window the last day. */
  @Post('runs/query')
  @SearchRoute()
  @HttpCode(200)
  @ApiOperation({ summary: 'Query traced runs (v2)' })
  @ApiOkResponse(PAGE_OR_STREAM)
  async query(
    @Tenant() tenantId: TenantId,
    @Body({ schema: queryRunsV2Schema }) body: QueryRunsV2,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendPage(request, reply, body, async (page) => {
      const { runs, next } = await this.queries.queryV2(tenantId, { ...body, ...page }, origin(request));
      return { items: runs.map((run) => toRunV2(run.row, body.selects, run)), next };
    });
  }

  /** Root runs, newest first, with the usage of all runs of each trace; without a window those of the last day. */
  @Post('traces/query')
  @SearchRoute()
  @HttpCode(200)
  @ApiOperation({ summary: 'Query traces' })
  @ApiOkResponse(PAGE_OR_STREAM)
  async queryTraces(
    @Tenant() tenantId: TenantId,
    @Body({ schema: queryTracesSchema }) body: QueryTraces,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendPage(request, reply, body, async (page) => {
      const { traces, next } = await this.queries.queryTraces(tenantId, { ...body, ...page }, origin(request));
      const items = traces.map((run) => toTrace(run.row, body.selects, run.usage, run));
      return { items, next };
    });
  }

  @Get('runs/:run_id')
  @ApiOperation({ summary: 'Get a traced run (v2)' })
  async read(
    @Tenant() tenantId: TenantId,
    @Param({ schema: runParamsSchema }) params: RunParams,
    @Query({ schema: readRunV2Schema }) query: ReadRunV2,
    @Req() request: FastifyRequest,
  ) {
    const run = await this.queries.readV2(tenantId, params.run_id, query, origin(request));
    return toRunV2(run.row, query.selects ?? ['id'], run);
  }

  @Get('traces/:trace_id/runs')
  @SearchRoute()
  @ApiOperation({ summary: 'List the runs of a trace (v2)' })
  async traceRuns(
    @Tenant() tenantId: TenantId,
    @Param({ schema: traceParamsSchema }) params: z.output<typeof traceParamsSchema>,
    @Query({ schema: traceRunsV2Schema }) query: TraceRunsV2,
    @Req() request: FastifyRequest,
  ) {
    const { runs } = await this.queries.traceRuns(tenantId, params.trace_id, query, origin(request));
    return { items: runs.map((run) => toRunV2(run.row, query.selects ?? ['id'], run)) };
  }
}

@RouteTags('Trace queries')
@Public()
@Controller('api/v1/attachments')
export class AttachmentsController {
  constructor(private readonly attachments: AttachmentsService) {}

  /** The link in a run's `s3_urls` is the permission; it is valid for an hour. */
  @Get(':tenant_id/:run_id/:name')
  @ApiOperation({ summary: 'Download an attachment' })
  async read(
    @Param({ schema: attachmentParamsSchema }) params: z.output<typeof attachmentParamsSchema>,
    @Query({ schema: attachmentQuerySchema }) query: z.output<typeof attachmentQuerySchema>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const { mimeType, size, body } = await this.attachments.readAttachment(
      params.tenant_id,
      params.run_id,
      params.name,
      query,
    );
    // Attachments are arbitrary data: a browser must not execute one as a page of this server.
    void reply.header('X-Content-Type-Options', 'nosniff');
    const options = { type: mimeType, disposition: 'attachment', ...(size !== undefined && { length: size }) };
    return body instanceof Readable ? new StreamableFile(body, options) : new StreamableFile(body, options);
  }
}
