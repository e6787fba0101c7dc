import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { RouteTags } from '../http/route-tags';
import { CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { EVENT_STREAM } from '../http/event-stream';
import { LastEventId } from './last-event-id';
import { RunCreationService } from './run-creation.service';
import { Origin, type RunOrigin } from './run-origin';
import { RunLimits } from './run-limits';
import { toRun } from './run.mapper';
import { pathOf, RunStreamsService } from './run-streams.service';
import {
  cancelManyQuery,
  cancelManySchema,
  type CancelMany,
  createBatchSchema,
  type CreateBatch,
  type CreateRun,
  createRunSchema,
  joinQuery,
  joinStreamQuery,
  type JoinStreamQuery,
  type Run,
  runParam,
  runResultSchema,
  runSchema,
  streamQuery,
  type StreamQuery,
} from './runs.schemas';
import { RunsService } from './runs.service';

type RunParam = z.infer<typeof runParam>;

/** Runs without a thread of the caller: each gets a new one, which is deleted with it unless the request keeps it. */
@RouteTags('Stateless Runs')
@CustomAuthDecides()
@Controller('runs')
export class StatelessRunsController {
  constructor(
    private readonly creation: RunCreationService,
    private readonly runs: RunsService,
    private readonly streams: RunStreamsService,
    private readonly limits: RunLimits,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a stateless background run' })
  @ApiOkResponse({ standardSchema: runSchema })
  async create(
    @Origin() origin: RunOrigin,
    @Body({ schema: createRunSchema }) body: CreateRun,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Run> {
    const run = await this.creation.createRun({ ...origin, body });
    void reply.header('Content-Location', pathOf(run));
    return toRun(run);
  }

  @Post('stream')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a stateless run and stream its events' })
  @ApiOkResponse(EVENT_STREAM)
  async stream(
    @Origin() origin: RunOrigin,
    @Query({ schema: streamQuery }) { namespace }: StreamQuery,
    @Body({ schema: createRunSchema }) body: CreateRun,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.creation.createRun({ ...origin, body, isStreamed: true });
    const cancelOnDisconnect = body.on_disconnect === 'cancel';
    await this.streams.streamRun(origin.tenantId, run, reply, { after: -1, namespaces: namespace, cancelOnDisconnect });
  }

  @Post('wait')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a stateless run and wait for its result' })
  @ApiOkResponse({ standardSchema: runResultSchema })
  async wait(
    @Origin() origin: RunOrigin,
    @Body({ schema: createRunSchema }) body: CreateRun,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.creation.createRun({ ...origin, body });
    await this.streams.sendResult(origin.tenantId, run, reply, body.on_disconnect === 'cancel');
  }

  @Post('batch')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create several stateless runs: all, or none when one is wrong' })
  @ApiOkResponse({ standardSchema: z.array(runSchema) })
  async createBatch(
    @Origin() origin: RunOrigin,
    @Body({ schema: createBatchSchema }) bodies: CreateBatch,
  ): Promise<Run[]> {
    this.limits.checkBatch(bodies.length);
    return (await this.creation.createRunBatch(origin, bodies)).map(toRun);
  }

  @Post('cancel')
  @HttpCode(204)
  @ApiOperation({ summary: 'Cancel several runs' })
  cancelMany(
    @Tenant() tenantId: TenantId,
    @Body({ schema: cancelManySchema }) body: CancelMany,
    @Query({ schema: cancelManyQuery }) { action }: z.infer<typeof cancelManyQuery>,
  ): Promise<void> {
    return this.runs.cancelRuns(tenantId, body, action);
  }

  @Get(':run_id')
  @ApiOperation({ summary: 'Get a run' })
  @ApiOkResponse({ standardSchema: runSchema })
  async get(@Tenant() tenantId: TenantId, @Param({ schema: runParam }) { run_id }: RunParam): Promise<Run> {
    return toRun(await this.runs.getRun(tenantId, run_id));
  }

  @Get(':run_id/join')
  @ApiOperation({ summary: "Wait for a run's result" })
  @ApiOkResponse({ standardSchema: runResultSchema })
  async join(
    @Tenant() tenantId: TenantId,
    @Param({ schema: runParam }) { run_id }: RunParam,
    @Query({ schema: joinQuery }) { cancel_on_disconnect }: z.infer<typeof joinQuery>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.runs.getRun(tenantId, run_id);
    await this.streams.sendResult(tenantId, run, reply, cancel_on_disconnect ?? false);
  }

  @Get(':run_id/stream')
  @ApiOperation({ summary: "Stream a run's events, from Last-Event-ID on" })
  @ApiOkResponse(EVENT_STREAM)
  async joinStream(
    @Tenant() tenantId: TenantId,
    @Param({ schema: runParam }) { run_id }: RunParam,
    @Query({ schema: joinStreamQuery }) query: JoinStreamQuery,
    @LastEventId() after: number,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.runs.getRun(tenantId, run_id);
    await this.streams.rejoinRun(tenantId, run, reply, after, query);
  }
}
