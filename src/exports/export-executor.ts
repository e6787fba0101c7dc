import { Injectable, Logger } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { contentOf } from '../storage/object-store';
import { DestinationsService } from './destinations/destinations.service';
import { exportFolder } from './destinations/export-layout';
import { startBeats } from './export-beats';
import { exportFailures, toExportFailure } from './export-failure';
import { ExportMetrics } from './export.metrics';
import { ExportWebhooks } from './export-webhooks';
import type { ExportRow } from './export-row';
import { ExportsRepository, OnEnd } from './exports.repository';
import { PartitionsRepository } from './partitions/partitions.repository';
import { selectionOf } from './partitions/row-selection';
import { TraceReader } from './partitions/trace-reader';
import { exportManifest } from './verification/export-manifest';
import { deleteLeftovers, leftoversOf } from './verification/leftover-files';
import { findLostFile } from './verification/lost-file';

/** Partitions passed to the workflow at once: its history shouldn't hold the ids of ten years. */
const PLAN_PAGE = 200;

/** Executes exports. Every method may be called twice: finished work is recorded in the rows and not repeated. */
@Injectable()
export class ExportExecutor {
  private readonly logger = new Logger(ExportExecutor.name);

  constructor(
    private readonly config: AppConfig,
    private readonly exports: ExportsRepository,
    private readonly partitions: PartitionsRepository,
    private readonly destinations: DestinationsService,
    private readonly reader: TraceReader,
    private readonly metrics: ExportMetrics,
    private readonly webhooks: ExportWebhooks,
  ) {}

  /** Returns the remaining time if it is the export's turn, `wait` if others are first, and `over` if it has ended. */
  async takeTurn(tenantId: TenantId, exportId: string): Promise<number | 'wait' | 'over'> {
    const { concurrency, timeoutMs } = this.config.exports;
    const state = await this.exports.takeTurn(tenantId, exportId, concurrency);
    if (state?.status === 'Created') return 'wait';
    if (state?.status !== 'Running') return 'over';
    return Math.max(1, timeoutMs - state.elapsedMs);
  }

  /** Plans the partitions when that hasn't been done, and resolves to those that are open. */
  async plan(
    tenantId: TenantId,
    exportId: string,
    signal: AbortSignal,
  ): Promise<{ row: ExportRow; open: { partitionId: string; day: string }[] }> {
    let row = await this.running(tenantId, exportId);
    if (row.plannedAt === null) {
      const beats = startBeats(() => this.exports.beat(tenantId, exportId));
      try {
        const watermark = await this.reader.watermark(signal);
        const counts = await this.reader.countDays(tenantId, selectionOf(row, row, watermark.at));
        await this.partitions.plan(tenantId, exportId, watermark, counts);
      } finally {
        clearInterval(beats);
      }
      row = await this.running(tenantId, exportId);
    }
    return { row, open: await this.partitions.listOpenPartitions(tenantId, exportId, PLAN_PAGE) };
  }

  /**
   * Deletes what is left of earlier attempts, writes the manifest and then `_SUCCESS`, and completes the export; resolves to false
   * when it was cancelled first. No row is locked meanwhile, since a store may take any time: a cancellation counts until `_SUCCESS`
   * is about to be written.
   * @throws {ExportFailure} also for failures that are repeated: the sentence of the last one is shown.
   */
  async complete(tenantId: TenantId, exportId: string, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.finish(tenantId, exportId, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = toExportFailure(error);
      this.logger.warn({ err: error, export_id: exportId }, 'An attempt to finish an export failed');
      // Code and hint; the sentence comes back through the workflow if the export fails.
      await this.exports.noteFailure(tenantId, exportId, failure).catch((cause: unknown) => {
        this.logger.warn({ err: cause, export_id: exportId }, 'The failure could not be stored');
      });
      throw failure;
    }
  }

  /** Ends an export that won't be completed, with its open partitions. */
  async end(
    tenantId: TenantId,
    exportId: string,
    ending: 'Failed' | 'Cancelled' | 'TimedOut',
    message: string | undefined,
  ): Promise<void> {
    await this.ending(tenantId, (onEnd) => this.exports.endExport(tenantId, exportId, ending, message, onEnd));
    this.metrics.exportEnded(ending);
  }

  /** The tenant's exports that may have their turn now. */
  waiting(tenantId: TenantId): Promise<string[]> {
    return this.exports.waiting(tenantId, this.config.exports.concurrency);
  }

  /** Reads the progress of a running export, and records a heartbeat. */
  async progress(tenantId: TenantId, exportId: string): Promise<ExportRow | undefined> {
    await this.exports.beat(tenantId, exportId);
    return this.exports.findExport(tenantId, exportId);
  }

  private async finish(tenantId: TenantId, exportId: string, signal: AbortSignal): Promise<boolean> {
    const row = await this.exports.findExport(tenantId, exportId);
    if (row?.status === 'Completed') return true;
    if (row?.status !== 'Running') return false;
    let { isPublishing } = row;
    let partitions = await this.partitions.listPartitions(tenantId, exportId, null, 0);
    const unfinished = partitions.filter(({ status }) => status !== 'Completed');
    if (unfinished.length > 0) throw exportFailures.incomplete(unfinished.length);
    const files = await this.partitions.filesOf(tenantId, exportId);
    const destination = await this.destinations.openDestination(tenantId, row.destinationId);
    const beats = startBeats(() => this.exports.beat(tenantId, exportId));
    try {
      const lost = await findLostFile(destination.store, files, partitions, signal);
      if (lost?.isCertain) throw exportFailures.lostFile(lost);
      const leftovers = leftoversOf(destination.place, tenantId, partitions, files);
      if (leftovers.size > 0) {
        await this.partitions.forgetLeftovers(tenantId, await deleteLeftovers(destination.store, leftovers));
        partitions = await this.partitions.listPartitions(tenantId, exportId, null, 0);
      }
      const folder = exportFolder(destination.place, exportId);
      const manifestKey = `${folder}/_manifest.json`;
      const manifest = exportManifest(row, partitions, files, destination);
      await destination.store.put(manifestKey, contentOf(Buffer.from(manifest)), {
        contentType: 'application/json',
        signal,
      });
      // Credentials that have expired could not write the manifest. Those that can read it could read the file as well.
      if (lost && (await destination.store.head(manifestKey, signal)).state !== 'forbidden') {
        throw exportFailures.lostFile(lost);
      }
      isPublishing = await this.exports.beginPublishing(tenantId, exportId);
      if (isPublishing) {
        await destination.store.put(`${folder}/_SUCCESS`, contentOf(Buffer.alloc(0)), { signal });
        const isCompleted = await this.ending(tenantId, (onEnd) =>
          this.exports.completeExport(tenantId, exportId, onEnd),
        );
        if (isCompleted) {
          this.metrics.exportEnded('Completed');
          return true;
        }
      }
      // It was cancelled, or another attempt has completed it.
      return (await this.exports.findExport(tenantId, exportId))?.status === 'Completed';
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = await this.destinations.failureOf(tenantId, destination, error);
      throw isPublishing ? exportFailures.halfPublished(failure) : failure;
    } finally {
      clearInterval(beats);
      destination.store.close();
    }
  }

  private async running(tenantId: TenantId, exportId: string): Promise<ExportRow> {
    const row = await this.exports.findExport(tenantId, exportId);
    if (row?.status !== 'Running') throw exportFailures.over(row?.status ?? 'gone');
    return row;
  }

  /** Ends an export, and starts its webhook when that has committed. */
  private async ending<T>(tenantId: TenantId, end: (onEnd: OnEnd) => Promise<T>): Promise<T> {
    let deliveryId: string | undefined;
    const result = await end(async (manager, row) => {
      deliveryId = await this.webhooks.enqueue(manager, row);
    });
    await this.webhooks.dispatch(tenantId, deliveryId);
    return result;
  }
}
