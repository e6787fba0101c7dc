import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../auth/tenant';
import { isOpenExport } from '../../database/export-status';
import { invalidField } from '../../http/api-error';
import type { Page } from '../../http/pagination';
import type { IdempotencyRequest } from '../../runs/idempotency';
import { IdempotencyKeys } from '../../runs/idempotency-keys';
import { startOrLeaveToSweep } from '../../sweeps/start-or-leave-to-sweep';
import { ExportOrchestrator } from '../../temporal/export-orchestrator';
import { WebhookPolicy } from '../../webhooks/webhook-policy';
import { placeOf } from '../destinations/destination.mapper';
import { DestinationsRepository } from '../destinations/destinations.repository';
import { dayFolder, objectPath, objectUrl } from '../destinations/export-layout';
import { toBulkExportRun } from './export.mapper';
import { filesByPartition, type PartitionRow } from '../partitions/partition-row';
import { PartitionsRepository } from '../partitions/partitions.repository';
import { ExportWebhooks } from '../export-webhooks';
import { exportErrors } from '../exports.errors';
import type { ExportRow } from '../export-row';
import { ExportsRepository } from '../exports.repository';
import type { BulkExportRun } from './export-responses.schemas';
import type { CreateExport, ListExportRuns, ListExports, ListSpawnedRuns } from './exports.schemas';

/** How long a retry waits for the workflow of the export to close, and the pause between two looks. */
const CLOSING_MS = 5_000;
const LOOK_MS = 100;

/** Requests concerning exports. The row is the intent; its workflow is started here or by the sweep. */
@Injectable()
export class ExportsService {
  private readonly logger = new Logger(ExportsService.name);

  constructor(
    private readonly exports: ExportsRepository,
    private readonly partitions: PartitionsRepository,
    private readonly destinations: DestinationsRepository,
    private readonly orchestrator: ExportOrchestrator,
    private readonly webhookPolicy: WebhookPolicy,
    private readonly webhooks: ExportWebhooks,
    private readonly idempotencyKeys: IdempotencyKeys,
  ) {}

  /**
   * Creates an export. With an idempotency key that was used before, returns the export that it created then.
   * @throws {ApiError} 422 naming the field, also for a webhook that the policy refuses; 409 for a key with another body
   */
  async createExport(tenantId: TenantId, request: CreateExport, idempotency?: IdempotencyRequest): Promise<ExportRow> {
    await this.checkReferences(tenantId, request);
    const { webhook: url } = request;
    if (url !== undefined) await this.webhookPolicy.check(url);
    const exportId = uuidv7();
    const isSchedule = request.interval_hours !== undefined;
    const webhook = url === undefined ? null : this.webhooks.seal(tenantId, exportId, url);
    const status = isSchedule ? 'IntervalScheduled' : 'Created';
    const earlier = await this.exports.transaction(async (manager) => {
      const made = idempotency && (await this.idempotencyKeys.take(manager, tenantId, idempotency, exportId));
      if (!made) await this.exports.insertExport(tenantId, manager, { ...request, exportId, status, webhook });
      return made;
    });
    if (earlier) {
      idempotency?.onReplay();
      return this.getExport(tenantId, earlier);
    }
    await this.start(tenantId, exportId, isSchedule);
    return this.getExport(tenantId, exportId);
  }

  listExports(tenantId: TenantId, query: ListExports): Promise<Page<ExportRow>> {
    return this.exports.listExports(tenantId, query);
  }

  async getExport(tenantId: TenantId, exportId: string): Promise<ExportRow> {
    const row = await this.exports.findExport(tenantId, exportId);
    if (!row) throw exportErrors.exportNotFound(exportId);
    return row;
  }

  /** Cancels an export. One that is cancelled already stays so; one that has ended otherwise, or is about to be complete, can't be. */
  async cancelExport(tenantId: TenantId, exportId: string): Promise<ExportRow> {
    let deliveryId: string | undefined;
    const isCancelled = await this.exports.cancelExport(tenantId, exportId, async (manager, ended) => {
      deliveryId = await this.webhooks.enqueue(manager, ended);
    });
    await this.webhooks.dispatch(tenantId, deliveryId);
    const row = await this.getExport(tenantId, exportId);
    if (isOpenExport(row.status)) throw exportErrors.exportIsCompleting(exportId);
    if (row.status !== 'Cancelled') throw exportErrors.exportIsOver(exportId, row.status);
    if (isCancelled) {
      await startOrLeaveToSweep('Cancellation', { export_id: exportId }, () =>
        this.orchestrator.cancelExport(exportId),
      );
    }
    return row;
  }

  /**
   * Retries partitions that failed or weren't reached in time: one of them, or all. Complete ones stay as they are; when all are
   * complete, the last files of the export are written again. The export waits for its turn again, with its full time limit.
   * @throws {ApiError} 404; 409 when there is nothing to retry, or while the workflow that ended the export hasn't closed. A
   *   cancelled export can't be restarted.
   */
  async retryExport(tenantId: TenantId, exportId: string, partitionId?: string): Promise<ExportRow> {
    const row = await this.getExport(tenantId, exportId);
    const partition =
      partitionId === undefined ? undefined : await this.partitions.findPartition(tenantId, exportId, partitionId);
    if (partitionId !== undefined && !partition) throw exportErrors.partitionNotFound(partitionId);
    if (row.status !== 'Failed' && row.status !== 'TimedOut') {
      throw exportErrors.exportNotRetryable(exportId, row.status);
    }
    if (partition?.status === 'Completed')
      throw exportErrors.partitionNotRetryable(partition.partitionId, partition.status);
    // A workflow that is still open may write its end once more, which would end the retried export.
    if (!(await this.hasClosed(exportId))) throw exportErrors.exportStillEnding(exportId);
    if (!(await this.exports.reopenExport(tenantId, exportId, partitionId ?? null))) {
      throw exportErrors.exportNotRetryable(exportId, (await this.getExport(tenantId, exportId)).status);
    }
    await this.start(tenantId, exportId, false);
    return this.getExport(tenantId, exportId);
  }

  async listRuns(
    tenantId: TenantId,
    exportId: string,
    { limit, offset }: ListExportRuns,
  ): Promise<Page<BulkExportRun>> {
    const row = await this.getExport(tenantId, exportId);
    const [rows, total] = await Promise.all([
      this.partitions.listPartitions(tenantId, exportId, limit ?? null, offset),
      this.partitions.countPartitions(tenantId, exportId),
    ]);
    return { items: await this.describe(tenantId, rows, row), total };
  }

  async getRun(tenantId: TenantId, exportId: string, partitionId: string): Promise<BulkExportRun> {
    const row = await this.getExport(tenantId, exportId);
    const partition = await this.partitions.findPartition(tenantId, exportId, partitionId);
    if (!partition) throw exportErrors.partitionNotFound(partitionId);
    const [described] = await this.describe(tenantId, [partition], row);
    return described;
  }

  /** The partitions of all exports that a schedule spawned, as one list. */
  async listSpawnedRuns(tenantId: TenantId, query: ListSpawnedRuns): Promise<Page<BulkExportRun>> {
    const source = await this.getExport(tenantId, query.source_bulk_export_id);
    const [rows, total] = await Promise.all([
      this.partitions.listSpawned(tenantId, source.exportId, query.limit ?? null, query.offset),
      this.partitions.countSpawned(tenantId, source.exportId),
    ]);
    return { items: await this.describe(tenantId, rows, source), total };
  }

  /** `of` is the export of the partitions, or the schedule that spawned their exports: the place is the same. */
  private async describe(tenantId: TenantId, rows: PartitionRow[], of: ExportRow): Promise<BulkExportRun[]> {
    const destination = await this.destinations.findDestination(tenantId, of.destinationId);
    if (!destination) throw exportErrors.destinationNotFound(of.destinationId);
    const place = placeOf(destination);
    const ids = rows.map(({ partitionId }) => partitionId);
    const files = filesByPartition(await this.partitions.filesIn(tenantId, ids));
    return rows.map((row) =>
      toBulkExportRun(row, files.get(row.partitionId) ?? [], {
        prefix: place.prefix,
        path: (key) => objectPath(place, key),
        url: (key) => objectUrl(place, key),
        folder: dayFolder(place, { exportId: row.exportId, tenantId, sessionId: row.sessionId }, row.day),
      }),
    );
  }

  /** Waits a moment for the export's workflow to close. One whose state Temporal doesn't answer counts as open. */
  private async hasClosed(exportId: string): Promise<boolean> {
    const until = Date.now() + CLOSING_MS;
    try {
      while (await this.orchestrator.isOpen(exportId, CLOSING_MS)) {
        if (Date.now() > until) return false;
        await sleep(LOOK_MS);
      }
      return true;
    } catch (error) {
      this.logger.warn({ err: error, export_id: exportId }, 'The workflow of an export to retry could not be read');
      return false;
    }
  }

  /** Starts the workflow; if that isn't possible now, the sweep does. */
  private async start(tenantId: TenantId, exportId: string, isSchedule: boolean): Promise<void> {
    await startOrLeaveToSweep('Export', { export_id: exportId }, async () => {
      const isStarted = await this.orchestrator.startExport({ exportId, tenantId, isSchedule });
      if (isStarted) await this.exports.markSeen(tenantId, exportId);
    });
  }

  private async checkReferences(tenantId: TenantId, request: CreateExport): Promise<void> {
    const { bulk_export_destination_id: destinationId, session_id: sessionId } = request;
    if (!(await this.destinations.findDestination(tenantId, destinationId))) {
      throw invalidField('bulk_export_destination_id', `there is no destination ${destinationId}`);
    }
    if (sessionId != null && !(await this.exports.hasProject(tenantId, sessionId))) {
      throw invalidField('session_id', `there is no tracing project ${sessionId}`);
    }
  }
}
