import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { NeedsEntitlement } from '../auth/entitlements';
import { CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { paginate, project } from '../http/pagination';
import { RouteTags } from '../http/route-tags';
import { SearchRoute } from '../http/search-route';
import { toCron, toCronRun } from './cron.mapper';
import {
  type Backfill,
  backfilledSchema,
  type Backfilled,
  backfillSchema,
  countCronsSchema,
  createCronSchema,
  type CreateCron,
  type Cron,
  type CronFilter,
  cronParam,
  cronRunSchema,
  type CronRun,
  cronRunsQuery,
  type CronRunsQuery,
  cronSchema,
  patchCronSchema,
  type PatchCron,
  pauseCronSchema,
  type PauseCron,
  searchCronsSchema,
  type SearchCrons,
  threadParam,
} from './crons.schemas';
import { CronsService, type CronWithLast } from './crons.service';
import { CronTicksService } from './cron-ticks.service';

type CronParam = z.infer<typeof cronParam>;

const shown = ({ cron, last }: CronWithLast): Cron => toCron(cron, last);

/** Runs on a schedule. */
@RouteTags('Crons')
@CustomAuthDecides()
@Controller()
export class CronsController {
  constructor(
    private readonly crons: CronsService,
    private readonly ticks: CronTicksService,
  ) {}

  @Post('runs/crons')
  @NeedsEntitlement('crons')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a cron whose runs each have a thread of their own' })
  @ApiOkResponse({ standardSchema: cronSchema })
  async create(@Tenant() tenantId: TenantId, @Body({ schema: createCronSchema }) body: CreateCron): Promise<Cron> {
    return shown(await this.crons.createCron(tenantId, body));
  }

  @Post('threads/:thread_id/runs/crons')
  @NeedsEntitlement('crons')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a cron whose runs share a thread' })
  @ApiOkResponse({ standardSchema: cronSchema })
  async createForThread(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadParam }) { thread_id }: z.infer<typeof threadParam>,
    @Body({ schema: createCronSchema }) body: CreateCron,
  ): Promise<Cron> {
    return shown(await this.crons.createCron(tenantId, body, thread_id));
  }

  @Post('runs/crons/search')
  @HttpCode(200)
  @SearchRoute()
  @ApiOperation({ summary: 'Search crons' })
  @ApiOkResponse({ standardSchema: z.array(cronSchema.partial()) })
  async search(
    @Tenant() tenantId: TenantId,
    @Body({ schema: searchCronsSchema.prefault({}) }) body: SearchCrons,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Partial<Cron>[]> {
    const page = await this.crons.searchCrons(tenantId, body);
    return project(paginate(reply, page, body.offset).map(shown), body.select);
  }

  @Post('runs/crons/count')
  @HttpCode(200)
  @SearchRoute()
  @ApiOperation({ summary: 'Count crons' })
  @ApiOkResponse({ standardSchema: z.number().int() })
  count(
    @Tenant() tenantId: TenantId,
    @Body({ schema: countCronsSchema.prefault({}) }) body: CronFilter,
  ): Promise<number> {
    return this.crons.countCrons(tenantId, body);
  }

  @Get('runs/crons/:cron_id')
  @ApiOperation({ summary: 'Get a cron' })
  @ApiOkResponse({ standardSchema: cronSchema })
  async get(@Tenant() tenantId: TenantId, @Param({ schema: cronParam }) { cron_id }: CronParam): Promise<Cron> {
    return shown(await this.crons.getCron(tenantId, cron_id));
  }

  @Patch('runs/crons/:cron_id')
  @NeedsEntitlement('crons')
  @ApiOperation({ summary: 'Change a cron: its schedule, what it runs, whether it is enabled' })
  @ApiOkResponse({ standardSchema: cronSchema })
  async patch(
    @Tenant() tenantId: TenantId,
    @Param({ schema: cronParam }) { cron_id }: CronParam,
    @Body({ schema: patchCronSchema }) body: PatchCron,
  ): Promise<Cron> {
    return shown(await this.crons.patchCron(tenantId, cron_id, body));
  }

  @Delete('runs/crons/:cron_id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete a cron' })
  delete(@Tenant() tenantId: TenantId, @Param({ schema: cronParam }) { cron_id }: CronParam): Promise<void> {
    return this.crons.deleteCron(tenantId, cron_id);
  }

  @Post('runs/crons/:cron_id/pause')
  @HttpCode(200)
  @ApiOperation({ summary: 'Pause a cron, with the reason' })
  @ApiOkResponse({ standardSchema: cronSchema })
  async pause(
    @Tenant() tenantId: TenantId,
    @Param({ schema: cronParam }) { cron_id }: CronParam,
    @Body({ schema: pauseCronSchema.prefault({}) }) { reason }: PauseCron,
  ): Promise<Cron> {
    return shown(await this.crons.patchCron(tenantId, cron_id, { enabled: false }, reason));
  }

  @Post('runs/crons/:cron_id/resume')
  @NeedsEntitlement('crons')
  @HttpCode(200)
  @ApiOperation({ summary: 'Resume a paused cron; ticks that it missed meanwhile are not caught up' })
  @ApiOkResponse({ standardSchema: cronSchema })
  async resume(@Tenant() tenantId: TenantId, @Param({ schema: cronParam }) { cron_id }: CronParam): Promise<Cron> {
    return shown(await this.crons.patchCron(tenantId, cron_id, { enabled: true }));
  }

  @Post('runs/crons/:cron_id/trigger')
  @NeedsEntitlement('crons')
  @HttpCode(200)
  @ApiOperation({ summary: "Start one of the cron's runs now" })
  @ApiOkResponse({ standardSchema: cronRunSchema })
  async trigger(@Tenant() tenantId: TenantId, @Param({ schema: cronParam }) { cron_id }: CronParam): Promise<CronRun> {
    return toCronRun(await this.ticks.triggerCron(tenantId, cron_id));
  }

  @Post('runs/crons/:cron_id/backfill')
  @NeedsEntitlement('crons')
  @HttpCode(200)
  @ApiOperation({ summary: 'Run every tick of a past range that has not been run' })
  @ApiOkResponse({ standardSchema: backfilledSchema })
  async backfill(
    @Tenant() tenantId: TenantId,
    @Param({ schema: cronParam }) { cron_id }: CronParam,
    @Body({ schema: backfillSchema }) body: Backfill,
  ): Promise<Backfilled> {
    const { ticks, alreadyFired, fires } = await this.ticks.backfillCron(tenantId, cron_id, body);
    return { cron_id, ticks, already_fired: alreadyFired, runs: fires.map(toCronRun) };
  }

  @Get('runs/crons/:cron_id/runs')
  @ApiOperation({ summary: 'List the runs of a cron, newest first, with its skipped and failed ticks' })
  @ApiOkResponse({ standardSchema: z.array(cronRunSchema) })
  async runs(
    @Tenant() tenantId: TenantId,
    @Param({ schema: cronParam }) { cron_id }: CronParam,
    @Query({ schema: cronRunsQuery }) query: CronRunsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CronRun[]> {
    return paginate(reply, await this.ticks.listTicks(tenantId, cron_id, query), query.offset).map(toCronRun);
  }
}
