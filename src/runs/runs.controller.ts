import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { RouteTags } from '../http/route-tags';
import { CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { EVENT_STREAM } from '../http/event-stream';
import { project } from '../http/pagination';
import { LastEventId } from './last-event-id';
import { RunCreationService } from './run-creation.service';
import { Origin, type RunOrigin } from './run-origin';
import { toRun } from './run.mapper';
import { pathOf, RunStreamsService } from './run-streams.service';
import {
  cancelQuery,
  type CancelQuery,
  type CreateRun,
  createRunSchema,
  joinQuery,
  joinStreamQuery,
  type JoinStreamQuery,
  listRunsQuery,
  type ListRuns,
  type Run,
  runResultSchema,
  runSchema,
  threadParam,
  threadRunParam,
  streamQuery,
  type StreamQuery,
} from './runs.schemas';
import { RunsService } from './runs.service';

type ThreadParam = z.infer<typeof threadParam>;
type RunParam = z.infer<typeof threadRunParam>;

/** Runs on a thread. */
@RouteTags('Thread Runs')
@CustomAuthDecides()
@Controller('threads/:thread_id/runs')
export class RunsController {
  constructor(
    private readonly creation: RunCreationService,
    private readonly runs: RunsService,
    private readonly streams: RunStreamsService,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a background run' })
  @ApiOkResponse({ standardSchema: runSchema })
  async create(
    @Origin() origin: RunOrigin,
    @Param({ schema: threadParam }) { thread_id }: ThreadParam,
    @Body({ schema: createRunSchema }) body: CreateRun,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Run> {
    const run = await this.creation.createRun({ ...origin, threadId: thread_id, body });
    void reply.header('Content-Location', pathOf(run));
    return toRun(run);
  }

  @Post('stream')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a run and stream its events' })
  @ApiOkResponse(EVENT_STREAM)
  async stream(
    @Origin() origin: RunOrigin,
    @Param({ schema: threadParam }) { thread_id }: ThreadParam,
    @Query({ schema: streamQuery }) { namespace }: StreamQuery,
    @Body({ schema: createRunSchema }) body: CreateRun,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.creation.createRun({ ...origin, threadId: thread_id, body, isStreamed: true });
    const cancelOnDisconnect = body.on_disconnect === 'cancel';
    await this.streams.streamRun(origin.tenantId, run, reply, { after: -1, namespaces: namespace, cancelOnDisconnect });
  }

  @Post('wait')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a run and wait for its result' })
  @ApiOkResponse({ standardSchema: runResultSchema })
  async wait(
    @Origin() origin: RunOrigin,
    @Param({ schema: threadParam }) { thread_id }: ThreadParam,
    @Body({ schema: createRunSchema }) body: CreateRun,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.creation.createRun({ ...origin, threadId: thread_id, body });
    await this.streams.sendResult(origin.tenantId, run, reply, body.on_disconnect === 'cancel');
  }

  @Get()
  @ApiOperation({ summary: 'Runs of a thread, newest first' })
  @ApiOkResponse({ standardSchema: z.array(runSchema.partial()) })
  async list(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadParam }) { thread_id }: ThreadParam,
    @Query({ schema: listRunsQuery }) query: ListRuns,
  ): Promise<Partial<Run>[]> {
    return project((await this.runs.listRuns(tenantId, thread_id, query)).map(toRun), query.select);
  }

  @Get(':run_id')
  @ApiOperation({ summary: 'Get a run' })
  @ApiOkResponse({ standardSchema: runSchema })
  async get(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadRunParam }) { thread_id, run_id }: RunParam,
  ): Promise<Run> {
    return toRun(await this.runs.getRun(tenantId, run_id, thread_id));
  }

  @Delete(':run_id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete a run and what it wrote' })
  delete(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadRunParam }) { thread_id, run_id }: RunParam,
  ): Promise<void> {
    return this.runs.deleteRun(tenantId, run_id, thread_id);
  }

  @Get(':run_id/join')
  @ApiOperation({ summary: "Wait for a run's result" })
  @ApiOkResponse({ standardSchema: runResultSchema })
  async join(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadRunParam }) { thread_id, run_id }: RunParam,
    @Query({ schema: joinQuery }) { cancel_on_disconnect }: z.infer<typeof joinQuery>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.runs.getRun(tenantId, run_id, thread_id);
    await this.streams.sendResult(tenantId, run, reply, cancel_on_disconnect ?? false);
  }

  @Get(':run_id/stream')
  @ApiOperation({ summary: "Stream a run's events, from Last-Event-ID on" })
  @ApiOkResponse(EVENT_STREAM)
  async joinStream(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadRunParam }) { thread_id, run_id }: RunParam,
    @Query({ schema: joinStreamQuery }) query: JoinStreamQuery,
    @LastEventId() after: number,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.runs.getRun(tenantId, run_id, thread_id);
    await this.streams.rejoinRun(tenantId, run, reply, after, query);
  }

  @Post(':run_id/cancel')
  @HttpCode(202)
  @ApiOperation({ summary: 'Cancel a run' })
  @ApiAcceptedResponse({ description: "Accepted; with `wait` 200 and the run's result" })
  async cancel(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadRunParam }) { thread_id, run_id }: RunParam,
    @Query({ schema: cancelQuery }) { wait, action, reason }: CancelQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.runs.getRun(tenantId, run_id, thread_id);
    await this.runs.cancelRun(tenantId, run_id, {
      action,
      threadId: thread_id,
      ...(reason && { reason: 'taken: its input was absorbed by another run' }),
    });
    if (wait) await this.streams.sendResult(tenantId, run, reply, false);
    else void reply.status(202).send();
  }
}
