import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { z } from 'zod';
import { CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { RouteTags } from '../http/route-tags';
import { SearchRoute } from '../http/search-route';
import {
  type AskRunStats,
  countRunsSchema,
  type FoundRun,
  foundRunSchema,
  type RunFilter,
  type RunStats,
  runStatsAnswer,
  runStatsSchema,
  type SearchRuns,
  searchRunsSchema,
} from './run-search.schemas';
import { RunSearchService } from './run-search.service';

/** Runs of all threads. Beside the contract of the deployment API, which lists those of one thread. */
@RouteTags('Stateless Runs')
@CustomAuthDecides()
@Controller('runs')
export class RunSearchController {
  constructor(private readonly runs: RunSearchService) {}

  @Post('search')
  @HttpCode(200)
  @SearchRoute()
  @ApiOperation({ summary: 'Search runs of all threads, newest first' })
  @ApiOkResponse({ standardSchema: z.array(foundRunSchema) })
  search(
    @Tenant() tenantId: TenantId,
    @Body({ schema: searchRunsSchema.prefault({}) }) body: SearchRuns,
  ): Promise<FoundRun[]> {
    return this.runs.searchRuns(tenantId, body);
  }

  @Post('count')
  @HttpCode(200)
  @SearchRoute()
  @ApiOperation({ summary: 'Count runs of all threads' })
  @ApiOkResponse({ standardSchema: z.number().int() })
  count(
    @Tenant() tenantId: TenantId,
    @Body({ schema: countRunsSchema.prefault({}) }) body: RunFilter,
  ): Promise<number> {
    return this.runs.countRuns(tenantId, body);
  }

  @Post('overview')
  @HttpCode(200)
  @SearchRoute()
  @ApiOperation({ summary: 'Runs that wait and run now, and counts and latencies by time' })
  @ApiOkResponse({ standardSchema: runStatsAnswer })
  stats(
    @Tenant() tenantId: TenantId,
    @Body({ schema: runStatsSchema.prefault({}) }) body: AskRunStats,
  ): Promise<RunStats> {
    return this.runs.stats(tenantId, body);
  }
}
