import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { RouteTags } from '../../http/route-tags';
import { NeedsEntitlement } from '../../auth/entitlements';
import { Tenant, TenantHeaderRequired, TenantId } from '../../auth/tenant';
import { EVENT_STREAM } from '../../http/event-stream';
import { paginate } from '../../http/pagination';
import { Idempotency, IdempotencyRequest } from '../../runs/idempotency';
import { toBulkExport } from './export.mapper';
import { ExportProgressService } from './export-progress.service';
import { ExportPreviewService } from '../preview/export-preview.service';
import { ExportPreview, exportPreviewSchema, PreviewQuery, previewQuerySchema } from '../preview/preview.schemas';
import { ExportManifestService } from '../verification/export-manifest.service';
import { ExportVerificationService } from '../verification/export-verification.service';
import {
  BulkExport,
  bulkExportListSchema,
  BulkExportRun,
  bulkExportRunListSchema,
  bulkExportRunSchema,
  bulkExportSchema,
  ExportManifest,
  exportManifestSchema,
  ExportVerification,
  exportVerificationSchema,
} from './export-responses.schemas';
import {
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
  VerifyExport,
  verifyExportSchema,
} from './exports.schemas';
import { ExportsService } from './exports.service';

interface ExportParams {
  export_id: string;
}

@RouteTags('Bulk Exports')
@TenantHeaderRequired()
@Controller('api/v1/bulk-exports')
export class ExportsController {
  constructor(
    private readonly exports: ExportsService,
    private readonly progress: ExportProgressService,
    private readonly verification: ExportVerificationService,
    private readonly previews: ExportPreviewService,
    private readonly manifests: ExportManifestService,
  ) {}

  /** One-off with `end_time`, or scheduled with `interval_hours`. */
  @Post()
  @NeedsEntitlement('bulk_export')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create an export' })
  @ApiOkResponse({ standardSchema: bulkExportSchema })
  @ApiHeader({ name: 'Idempotency-Key', required: false, description: 'Makes one export, however often it is sent' })
  async create(
    @Tenant() tenantId: TenantId,
    @Body({ schema: createExportSchema }) body: CreateExport,
    @Idempotency() idempotency: IdempotencyRequest | undefined,
  ): Promise<BulkExport> {
    return toBulkExport(await this.exports.createExport(tenantId, body, idempotency));
  }

  /** `X-Pagination-Total` is the number of all that match, as in the other lists of exports and their runs. */
  @Get()
  @ApiOperation({ summary: 'List exports, newest first' })
  @ApiOkResponse({ standardSchema: bulkExportListSchema })
  async list(
    @Tenant() tenantId: TenantId,
    @Query({ schema: listExportsSchema }) query: ListExports,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BulkExport[]> {
    return paginate(reply, await this.exports.listExports(tenantId, query), query.offset).map(toBulkExport);
  }

  @Get('runs')
  @ApiOperation({ summary: 'List the runs of all exports that a scheduled export spawned' })
  @ApiOkResponse({ standardSchema: bulkExportRunListSchema })
  async listSpawnedRuns(
    @Tenant() tenantId: TenantId,
    @Query({ schema: listSpawnedRunsSchema }) query: ListSpawnedRuns,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BulkExportRun[]> {
    return paginate(reply, await this.exports.listSpawnedRuns(tenantId, query), query.offset);
  }

  @Get(':export_id')
  @ApiOperation({ summary: 'Get an export' })
  @ApiOkResponse({ standardSchema: bulkExportSchema })
  async get(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportParamsSchema }) params: ExportParams,
  ): Promise<BulkExport> {
    return toBulkExport(await this.exports.getExport(tenantId, params.export_id));
  }

  /** `{"status": "Cancelled"}` is the only possible change. */
  @Patch(':export_id')
  @ApiOperation({ summary: 'Cancel an export' })
  @ApiOkResponse({ standardSchema: bulkExportSchema })
  async cancel(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportParamsSchema }) params: ExportParams,
    @Body({ schema: cancelExportSchema }) _body: CancelExport,
  ): Promise<BulkExport> {
    return toBulkExport(await this.exports.cancelExport(tenantId, params.export_id));
  }

  /** Server-sent events: `progress` whenever something changes, `end` with the last state. */
  @Get(':export_id/progress')
  @ApiOperation({ summary: 'Watch an export' })
  @ApiOkResponse(EVENT_STREAM)
  async watch(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportParamsSchema }) params: ExportParams,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.progress.stream(tenantId, await this.exports.getExport(tenantId, params.export_id), reply);
  }

  /** The content of `_manifest.json` as it was written, with the checksum of each file. */
  @Get(':export_id/manifest')
  @ApiOperation({ summary: 'Read the manifest of a complete export' })
  @ApiOkResponse({ standardSchema: exportManifestSchema })
  manifest(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportParamsSchema }) params: ExportParams,
  ): Promise<ExportManifest> {
    return this.manifests.read(tenantId, params.export_id);
  }

  /** Reads manifest and footers back from the bucket, and compares them with what was written. */
  @Post(':export_id/verify')
  @HttpCode(200)
  @ApiOperation({ summary: 'Verify a complete export' })
  @ApiOkResponse({ standardSchema: exportVerificationSchema })
  verify(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportParamsSchema }) params: ExportParams,
    @Body({ schema: verifyExportSchema }) body: VerifyExport,
  ): Promise<ExportVerification> {
    return this.verification.verify(tenantId, params.export_id, body.checksums);
  }

  /** Retries all incomplete partitions. A cancelled export can't be restarted. */
  @Post(':export_id/retry')
  @NeedsEntitlement('bulk_export')
  @HttpCode(200)
  @ApiOperation({ summary: 'Retry an export that failed' })
  @ApiOkResponse({ standardSchema: bulkExportSchema })
  async retry(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportParamsSchema }) params: ExportParams,
  ): Promise<BulkExport> {
    return toBulkExport(await this.exports.retryExport(tenantId, params.export_id));
  }

  /** Retries one partition, and leaves the others as they are. */
  @Post(':export_id/runs/:run_id/retry')
  @NeedsEntitlement('bulk_export')
  @HttpCode(200)
  @ApiOperation({ summary: 'Retry one run of an export that failed' })
  @ApiOkResponse({ standardSchema: bulkExportRunSchema })
  async retryRun(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportRunParamsSchema }) params: ExportParams & { run_id: string },
  ): Promise<BulkExportRun> {
    await this.exports.retryExport(tenantId, params.export_id, params.run_id);
    return this.exports.getRun(tenantId, params.export_id, params.run_id);
  }

  /** An export has a run for each UTC day of its window. */
  @Get(':export_id/runs')
  @ApiOperation({ summary: 'List the runs of an export' })
  @ApiOkResponse({ standardSchema: bulkExportRunListSchema })
  async listRuns(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportParamsSchema }) params: ExportParams,
    @Query({ schema: listExportRunsSchema }) query: ListExportRuns,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BulkExportRun[]> {
    return paginate(reply, await this.exports.listRuns(tenantId, params.export_id, query), query.offset);
  }

  /** Reads a file of the run back from the bucket. */
  @Get(':export_id/runs/:run_id/preview')
  @ApiOperation({ summary: 'Show the schema and the first rows of an exported file' })
  @ApiOkResponse({ standardSchema: exportPreviewSchema })
  previewFile(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportRunParamsSchema }) params: ExportParams & { run_id: string },
    @Query({ schema: previewQuerySchema }) query: PreviewQuery,
  ): Promise<ExportPreview> {
    return this.previews.previewFile(tenantId, params.export_id, params.run_id, query);
  }

  @Get(':export_id/runs/:run_id')
  @ApiOperation({ summary: 'Get a run of an export' })
  @ApiOkResponse({ standardSchema: bulkExportRunSchema })
  getRun(
    @Tenant() tenantId: TenantId,
    @Param({ schema: exportRunParamsSchema }) params: ExportParams & { run_id: string },
  ): Promise<BulkExportRun> {
    return this.exports.getRun(tenantId, params.export_id, params.run_id);
  }
}
