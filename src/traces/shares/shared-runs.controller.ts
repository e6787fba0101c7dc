import { Body, Controller, Get, Header, HttpCode, Param, Post, Query, UseInterceptors } from '@nestjs/common';
import { ApiOperation, ApiProduces } from '@nestjs/swagger';
import type { z } from 'zod';
import { AliasedController } from '../../http/aliased-controller';
import { Public } from '../../auth/tenant';
import { SearchRoute } from '../../http/search-route';
import { RouteTags } from '../../http/route-tags';
import { ExactNumbers } from '../query/exact-numbers.interceptor';
import { payloadsFor } from '../query/trace-run.mapper';
import type { Payload } from '../query/trace-runs.repository';
import { toSharedRunV1, toSharedRunV2 } from './shared-run.mapper';
import { sharedRunsPage } from './shared-runs.page';
import { SharedRunsService } from './shared-runs.service';
import {
  querySharedRunsSchema,
  querySharedRunsV1Schema,
  readSharedRunSchema,
  sharedParamsSchema,
  sharedRunParamsSchema,
} from './shares.schemas';
import type { QuerySharedRuns, QuerySharedRunsV1, ReadSharedRun } from './shares.schemas';

type SharedParams = z.output<typeof sharedParamsSchema>;
type SharedRunParams = z.output<typeof sharedRunParamsSchema>;

/** A shared run for clients of the first version. */
const PAYLOADS_V1: Payload[] = ['inputs', 'outputs', 'extra', 'metadata'];

/** The data of a public link, in the second version of the API. The token is the permission. */
@RouteTags('Trace sharing')
@Public()
@UseInterceptors(ExactNumbers)
@AliasedController('api/v2/public', 'v2/public')
export class SharedRunsController {
  constructor(private readonly shared: SharedRunsService) {}

  @Post(':share_token/runs/query')
  @SearchRoute()
  @HttpCode(200)
  @ApiOperation({ summary: 'List the runs of a public link (v2)' })
  async query(
    @Param({ schema: sharedParamsSchema }) { share_token: token }: SharedParams,
    @Body({ schema: querySharedRunsSchema.prefault({}) }) { selects }: QuerySharedRuns,
  ) {
    const rows = await this.shared.listSharedRuns(token, payloadsFor(selects));
    return { items: rows.map((row) => toSharedRunV2(row, selects)) };
  }

  @Get(':share_token/run/:run_id')
  @SearchRoute()
  @ApiOperation({ summary: 'Get a run of a public link (v2)' })
  async read(
    @Param({ schema: sharedRunParamsSchema }) { share_token: token, run_id: runId }: SharedRunParams,
    @Query({ schema: readSharedRunSchema }) { selects }: ReadSharedRun,
  ) {
    return toSharedRunV2(await this.shared.readSharedRun(token, payloadsFor(selects), runId), selects);
  }
}

/** The same by the first version. */
@RouteTags('Trace sharing')
@Public()
@UseInterceptors(ExactNumbers)
@AliasedController('api/v1/public', 'api/public', 'public')
export class SharedRunsV1Controller {
  constructor(private readonly shared: SharedRunsService) {}

  @Get(':share_token/run')
  @SearchRoute()
  @ApiOperation({ summary: 'Get the root run of a public link' })
  async root(@Param({ schema: sharedParamsSchema }) { share_token: token }: SharedParams) {
    return toSharedRunV1(await this.shared.readRootRun(token, PAYLOADS_V1));
  }

  @Get(':share_token/run/:run_id')
  @SearchRoute()
  @ApiOperation({ summary: 'Get a run of a public link' })
  async read(@Param({ schema: sharedRunParamsSchema }) { share_token: token, run_id: runId }: SharedRunParams) {
    return toSharedRunV1(await this.shared.readSharedRun(token, PAYLOADS_V1, runId));
  }

  @Post(':share_token/runs/query')
  @SearchRoute()
  @HttpCode(200)
  @ApiOperation({ summary: 'List the runs of a public link' })
  async query(
    @Param({ schema: sharedParamsSchema }) { share_token: token }: SharedParams,
    @Body({ schema: querySharedRunsV1Schema.prefault({}) }) { id: ids }: QuerySharedRunsV1,
  ) {
    const rows = await this.shared.listSharedRuns(token, PAYLOADS_V1, { ...(ids && { ids }) });
    return { runs: rows.map(toSharedRunV1), cursors: { next: null } };
  }
}

/** The pages of the links. */
@RouteTags('Trace sharing')
@Public()
@Controller('public')
export class SharedRunsPageController {
  constructor(private readonly shared: SharedRunsService) {}

  /** A page for people: the tree of runs with their inputs and outputs. */
  @Get(':share_token/r')
  @SearchRoute()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Cache-Control', 'no-store')
  @ApiProduces('text/html')
  @ApiOperation({ summary: 'Show the page of a public link' })
  async page(@Param({ schema: sharedParamsSchema }) { share_token: token }: SharedParams): Promise<string> {
    return sharedRunsPage(await this.shared.listSharedRuns(token, ['inputs', 'outputs']));
  }
}
