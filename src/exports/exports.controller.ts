import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { NeedsEntitlement } from '../auth/entitlements';
import { Tenant, TenantHeaderRequired, TenantId } from '../auth/tenant';
import { toBulkExport } from './export.mapper';
import {
  BulkExport,
  BulkExportRun,
  CancelExport,
  cancelExportSchema,
  CreateExport,
  createExportSchema,
  exportParamsSchema,
  exportRunParamsSchema,
  ListExportRuns,
  listExportRunsSchema,
  ListExports,
  listExportsSchema,
  ListSpawnedRuns,
  listSpawnedRunsSchema,
} from './exports.schemas';
import { ExportsService } from './exports.service';

interface ExportParams {
  export_id: string;
}

@ApiTags('Bulk Exports')
@TenantHeaderRequired()
@Controller('api/v1/bulk-exports')
export class ExportsController {
  constructor(private readonly exports: ExportsService) {}

  /** One-off with `end_time`, or scheduled with `interval_hours`. */
  @Post()
  @NeedsEntitlement('bulk_export')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create an export' })
  async create(
    @Tenant() tenantId: TenantId,
    @Body({ schema: createExportSchema }) body: CreateExport,
  ): Promise<BulkExport> {
    return toBulkExport(await this.exports.create(tenantId, body));
  }

  @Get()
  @ApiOperation({ summary: 'List exports, newest first' })
  async list(
    @Tenant() tenantId: TenantId,
    @Query({ schema: listExportsSchema }) query: ListExports,
  ): Promise<BulkExport[]> {
    return (await this.exports.list(tenantId, query)).map(toBulkExport);
  }

  @Get('runs')
  @ApiOperation({ summary: 'List the runs of all exports that a scheduled export spawned' })
  listSpawnedRuns(
    @Tenant() tenantId: TenantId,
    @Query({ schema: listSpawnedRunsSchema }) query: ListSpawnedRuns,
  ): Promise<BulkExportRun[]> {
    return this.exports.listSpawnedRuns(tenantId, query);
  }

  @Get(':export_id')
  @ApiOperation({ summary: 'Get an export' })
  async get(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportParamsSchema }) params: ExportParams,
  ): Promise<BulkExport> {
    return toBulkExport(await this.exports.get(tenantId, params.export_id));
  }

  /** `{"status": "Cancelled"}` is the only change there is. */
  @Patch(':export_id')
  @ApiOperation({ summary: 'Cancel an export' })
  async cancel(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportParamsSchema }) params: ExportParams,
    @Body({ schema: cancelExportSchema }) _body: CancelExport,
  ): Promise<BulkExport> {
    return toBulkExport(await this.exports.cancel(tenantId, params.export_id));
  }

  /** An export has a run for each UTC day of its window. */
  @Get(':export_id/runs')
  @ApiOperation({ summary: 'List the runs of an export' })
  listRuns(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportParamsSchema }) params: ExportParams,
    @Query({ schema: listExportRunsSchema }) query: ListExportRuns,
  ): Promise<BulkExportRun[]> {
    return this.exports.listRuns(tenantId, params.export_id, query);
  }

  @Get(':export_id/runs/:run_id')
  @ApiOperation({ summary: 'Get a run of an export' })
  getRun(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportRunParamsSchema }) params: ExportParams & { run_id: string },
  ): Promise<BulkExportRun> {
    return this.exports.getRun(tenantId, params.export_id, params.run_id);
  }
}
