import { Injectable, Logger } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../auth/tenant';
import { invalidField } from '../http/api-error';
import { ExportOrchestrator } from '../temporal/export-orchestrator';
import { DestinationsRepository } from './destinations.repository';
import { dayFolder, objectPath } from './export-layout';
import { toBulkExportRun } from './export.mapper';
import { ExportRunRow, ExportRunsRepository, filesByRun } from './export-runs.repository';
import { exportErrors } from './exports.errors';
import { ExportRow, ExportsRepository } from './exports.repository';
import type { BulkExportRun, CreateExport, ListExportRuns, ListExports, ListSpawnedRuns } from './exports.schemas';

/** What is asked of exports. The row is the intent; the workflow that follows it is started here or by the sweep. */
@Injectable()
export class ExportsService {
  private readonly logger = new Logger(ExportsService.name);

  constructor(
    private readonly exports: ExportsRepository,
    private readonly runs: ExportRunsRepository,
    private readonly destinations: DestinationsRepository,
    private readonly orchestrator: ExportOrchestrator,
  ) {}

  async create(tenantId: TenantId, request: CreateExport): Promise<ExportRow> {
    await this.checkReferences(tenantId, request);
    const exportId = uuidv7();
    const isSchedule = request.interval_hours !== undefined;
    await this.exports.insert(tenantId, { ...request, exportId, status: isSchedule ? 'IntervalScheduled' : 'Created' });
    try {
      await this.orchestrator.start({ exportId, tenantId, isSchedule });
      await this.exports.markSeen(tenantId, exportId);
    } catch (error) {
      this.logger.warn({ err: error, export_id: exportId }, 'Export not started yet: the sweep will start it');
    }
    return this.get(tenantId, exportId);
  }

  list(tenantId: TenantId, query: ListExports): Promise<ExportRow[]> {
    return this.exports.list(tenantId, query);
  }

  async get(tenantId: TenantId, exportId: string): Promise<ExportRow> {
    const row = await this.exports.find(tenantId, exportId);
    if (!row) throw exportErrors.exportNotFound(exportId);
    return row;
  }

  /** Cancels an export. One that is cancelled already stays so; one that has ended otherwise can't be. */
  async cancel(tenantId: TenantId, exportId: string): Promise<ExportRow> {
    const isCancelled = await this.exports.cancel(tenantId, exportId);
    const row = await this.get(tenantId, exportId);
    if (row.status !== 'Cancelled') throw exportErrors.exportIsOver(exportId, row.status);
    if (isCancelled) {
      try {
        await this.orchestrator.cancel(exportId);
      } catch (error) {
        this.logger.warn(
          { err: error, export_id: exportId },
          'Workflow not told of the cancellation yet: the sweep will',
        );
      }
    }
    return row;
  }

  async listRuns(tenantId: TenantId, exportId: string, { limit, offset }: ListExportRuns): Promise<BulkExportRun[]> {
    const row = await this.get(tenantId, exportId);
    return this.describe(tenantId, await this.runs.list(tenantId, exportId, limit ?? null, offset), row);
  }

  async getRun(tenantId: TenantId, exportId: string, exportRunId: string): Promise<BulkExportRun> {
    const row = await this.get(tenantId, exportId);
    const run = await this.runs.find(tenantId, exportId, exportRunId);
    if (!run) throw exportErrors.exportRunNotFound(exportRunId);
    const [described] = await this.describe(tenantId, [run], row);
    return described;
  }

  /** The partitions of all exports that a schedule spawned, as one list. */
  async listSpawnedRuns(tenantId: TenantId, query: ListSpawnedRuns): Promise<BulkExportRun[]> {
    const source = await this.get(tenantId, query.source_bulk_export_id);
    const rows = await this.runs.listSpawned(tenantId, source.exportId, query.limit ?? null, query.offset);
    return this.describe(tenantId, rows, source);
  }

  /** `of` is the export of the partitions, or the schedule that spawned their exports: place and project are the same. */
  private async describe(tenantId: TenantId, rows: ExportRunRow[], of: ExportRow): Promise<BulkExportRun[]> {
    const destination = await this.destinations.find(tenantId, of.destinationId);
    if (!destination) throw exportErrors.destinationNotFound(of.destinationId);
    const { config } = destination;
    const ids = rows.map(({ exportRunId }) => exportRunId);
    const files = filesByRun(await this.runs.filesIn(tenantId, ids));
    return rows.map((row) =>
      toBulkExportRun(row, files.get(row.exportRunId) ?? [], {
        prefix: config.prefix,
        sessionId: of.sessionId,
        path: (key) => objectPath(config, key),
        folder: dayFolder(config, { exportId: row.exportId, tenantId, sessionId: of.sessionId }, row.day),
      }),
    );
  }

  private async checkReferences(tenantId: TenantId, request: CreateExport): Promise<void> {
    const { bulk_export_destination_id: destinationId, session_id: sessionId } = request;
    if (!(await this.destinations.find(tenantId, destinationId))) {
      throw invalidField('bulk_export_destination_id', `there is no destination ${destinationId}`);
    }
    if (!(await this.exports.hasProject(tenantId, sessionId))) {
      throw invalidField('session_id', `there is no tracing project ${sessionId}`);
    }
  }
}
