import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { z } from 'zod';
import { AliasedController } from '../../http/aliased-controller';
import { Tenant } from '../../auth/tenant';
import type { TenantId } from '../../auth/tenant';
import { runParamsSchema } from '../ingest/trace-ingest.schemas';
import { traceParamsSchema } from '../query/trace-query.schemas';
import { threadParamsSchema } from '../threads/trace-threads.schemas';
import { shareRunSchema, shareRunV1Schema, threadShareSchema, unshareTraceSchema } from './shares.schemas';
import type { ShareRun, ThreadShare, UnshareTrace } from './shares.schemas';
import { SharingService } from './sharing.service';
import { RouteTags } from '../../http/route-tags';

type RunParams = z.output<typeof runParamsSchema>;
type TraceParams = z.output<typeof traceParamsSchema>;
type ThreadParams = z.output<typeof threadParamsSchema>;

/** Public links, by the first version of the API. A run shares its whole trace. */
@RouteTags('Trace sharing')
@AliasedController('api/v1/runs', 'api/runs', 'runs')
export class RunSharesController {
  constructor(private readonly sharing: SharingService) {}

  @Put(':run_id/share')
  @ApiOperation({ summary: 'Share the trace of a run by a public link' })
  async share(
    @Tenant() tenantId: TenantId,
    @Param({ schema: runParamsSchema }) { run_id: runId }: RunParams,
    @Body({ schema: shareRunV1Schema.prefault({}) }) _body: z.output<typeof shareRunV1Schema>,
  ) {
    return { run_id: runId, share_token: await this.sharing.shareRun(tenantId, runId) };
  }

  /** Null for a trace that isn't shared. */
  @Get(':run_id/share')
  @ApiOperation({ summary: 'Get the public link to the trace of a run' })
  async read(@Tenant() tenantId: TenantId, @Param({ schema: runParamsSchema }) { run_id: runId }: RunParams) {
    const token = await this.sharing.tokenOfRun(tenantId, runId);
    return token === undefined ? {} : { run_id: runId, share_token: token };
  }

  @Delete(':run_id/share')
  @ApiOperation({ summary: 'Revoke the public link to the trace of a run' })
  async revoke(@Tenant() tenantId: TenantId, @Param({ schema: runParamsSchema }) { run_id: runId }: RunParams) {
    await this.sharing.revokeRun(tenantId, runId);
    return { message: 'No longer shared' };
  }
}

@RouteTags('Trace sharing')
@AliasedController('api/v2', 'v2')
export class SharesController {
  constructor(private readonly sharing: SharingService) {}

  /** A trace that is shared already keeps its link. */
  @Post('runs/:run_id/share')
  @HttpCode(200)
  @ApiOperation({ summary: 'Share the trace of a run by a public link (v2)' })
  async shareRun(
    @Tenant() tenantId: TenantId,
    @Param({ schema: runParamsSchema }) { run_id: runId }: RunParams,
    @Body({ schema: shareRunSchema }) body: ShareRun,
  ) {
    return { share_token: await this.sharing.shareRun(tenantId, runId, body) };
  }

  @Delete('runs/:trace_id/share')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke the public link to a trace (v2)' })
  async revokeTrace(
    @Tenant() tenantId: TenantId,
    @Param({ schema: traceParamsSchema }) { trace_id: runId }: TraceParams,
    @Body({ schema: unshareTraceSchema }) { session_id: projectId }: UnshareTrace,
  ): Promise<void> {
    await this.sharing.revoke(tenantId, { projectId, runId });
  }

  @Post('threads/:thread_id/share')
  @HttpCode(200)
  @ApiOperation({ summary: 'Share a thread by a public link' })
  async shareThread(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadParamsSchema }) { thread_id: threadId }: ThreadParams,
    @Body({ schema: threadShareSchema }) { project_id: projectId }: ThreadShare,
  ) {
    return { share_token: await this.sharing.shareThread(tenantId, { projectId, threadId }) };
  }

  /** Has no token if the thread isn't shared. */
  @Get('threads/:thread_id/share')
  @ApiOperation({ summary: 'Get the public link to a thread' })
  async readThread(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadParamsSchema }) { thread_id: threadId }: ThreadParams,
    @Query({ schema: threadShareSchema }) { project_id: projectId }: ThreadShare,
  ) {
    const token = await this.sharing.tokenOf(tenantId, { projectId, threadId });
    return { ...(token !== undefined && { share_token: token }) };
  }

  @Delete('threads/:thread_id/share')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke the public link to a thread' })
  async revokeThread(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadParamsSchema }) { thread_id: threadId }: ThreadParams,
    @Query({ schema: threadShareSchema }) { project_id: projectId }: ThreadShare,
  ): Promise<void> {
    await this.sharing.revoke(tenantId, { projectId, threadId });
  }
}
