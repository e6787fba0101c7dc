import { Injectable, Logger } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { AppConfig } from '../../config/config';
import { DestinationsService, OpenDestination } from '../destinations/destinations.service';
import { startBeats } from '../export-beats';
import { ExportFailure, exportFailures, toExportFailure } from '../export-failure';
import { ExportMetrics } from '../export.metrics';
import type { ExportRow } from '../export-row';
import { ExportsRepository } from '../exports.repository';
import { ParquetEncoder } from '../parquet/parquet-encoder';
import { sentenceOf } from '../../storage/store-error';
import { ExportVerifier } from '../verification/export-verifier';
import { LostPartition, PartitionProgress, PartitionTools, PartitionWork } from './partition-work';
import type { PartFile, PartitionRow } from './partition-row';
import { PartitionsRepository } from './partitions.repository';
import { selectionOf } from './row-selection';
import { TraceReader } from './trace-reader';

/** Consecutive failures of the store or the database, without a file in between, after which a partition fails. */
const MAX_FAILURES = 20;

/** Content of a complete partition: its rows, their bytes as Parquet, and the number of part files. */
export interface PartitionOutcome {
  rows: number;
  bytes: number;
  files: number;
}

/** Writes partitions. Written files are recorded in rows, so the next attempt doesn't repeat them. */
@Injectable()
export class PartitionExecutor {
  private readonly logger = new Logger(PartitionExecutor.name);
  private readonly tools: PartitionTools;

  constructor(
    config: AppConfig,
    private readonly exports: ExportsRepository,
    private readonly partitions: PartitionsRepository,
    private readonly destinations: DestinationsService,
    private readonly verifier: ExportVerifier,
    reader: TraceReader,
    encoder: ParquetEncoder,
    metrics: ExportMetrics,
  ) {
    this.tools = { config, partitions, reader, encoder, metrics };
  }

  /**
   * Writes what is left of a partition, file by file, and verifies all of it.
   * @throws {ExportFailure} final, when no further attempt can help.
   */
  async export(
    tenantId: TenantId,
    exportId: string,
    partitionId: string,
    signal: AbortSignal,
    onProgress: (progress: PartitionProgress) => void,
  ): Promise<PartitionOutcome> {
    try {
      const outcome = await this.attempt(tenantId, exportId, partitionId, signal, onProgress);
      this.tools.metrics.partitionAttempted('completed');
      return outcome;
    } catch (error) {
      // A cancelled attempt and one that has lost the partition haven't failed.
      const isStopped = signal.aborted || error instanceof LostPartition;
      this.tools.metrics.partitionAttempted(isStopped ? 'stopped' : 'failed');
      if (isStopped) throw error;
      throw await this.recorded(tenantId, partitionId, error);
    }
  }

  /** Ends a partition that no attempt could complete. */
  async fail(tenantId: TenantId, partitionId: string, message: string): Promise<void> {
    await this.partitions.failPartition(tenantId, partitionId, message);
  }

  private async attempt(
    tenantId: TenantId,
    exportId: string,
    partitionId: string,
    signal: AbortSignal,
    onProgress: (progress: PartitionProgress) => void,
  ): Promise<PartitionOutcome> {
    const known = await this.partitions.findPartition(tenantId, exportId, partitionId);
    if (known?.status === 'Completed') {
      return {
        rows: known.rowsWritten,
        bytes: known.bytesWritten,
        files: (await this.partitions.files(tenantId, partitionId)).length,
      };
    }
    const row = await this.exports.findExport(tenantId, exportId);
    const partition = await this.partitions.beginPartition(tenantId, partitionId);
    if (!row || !partition) throw exportFailures.over(row?.status ?? 'gone');
    const destination = await this.destinations.openDestination(tenantId, row.destinationId);
    const beats = startBeats(() => this.partitions.beat(tenantId, partitionId, partition.attempt));
    try {
      const work = new PartitionWork(this.tools, destination, tenantId, row, partition);
      const files = await work.write(signal, onProgress);
      const verified = await this.verifyFiles(tenantId, partition, destination, files, signal);
      const rows = files.reduce((sum, file) => sum + file.rows, 0);
      await this.checkRows(tenantId, row, partition, rows);
      if (!(await this.partitions.completePartition(tenantId, partitionId, partition.attempt, verified)))
        throw new LostPartition();
      return { rows, bytes: files.reduce((sum, file) => sum + file.bytes, 0), files: files.length };
    } catch (error) {
      if (signal.aborted || error instanceof LostPartition) throw error;
      throw await this.destinations.failureOf(tenantId, destination, error);
    } finally {
      clearInterval(beats);
      destination.store.close();
    }
  }

  /**
   * Reads the files back where that is permitted; those from the first wrong one on are forgotten, and written again by
   * the next attempt. Resolves to whether they could be read.
   */
  private async verifyFiles(
    tenantId: TenantId,
    partition: PartitionRow,
    { store }: OpenDestination,
    files: PartFile[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const checks = await this.verifier.check(store, files, signal);
    for (const { file, check } of checks) {
      if (check.state !== 'wrong') continue;
      await this.partitions.dropFiles(tenantId, partition.partitionId, partition.attempt, file.part);
      throw exportFailures.wrongFile(file.objectKey, check.problem);
    }
    return checks.every(({ check }) => check.state === 'verified');
  }

  /**
   * Compares what was written with the source. Counts last, when everything is stored, to include rows that became visible until
   * then. Fewer rows than an earlier attempt has counted are a loss, and fail, whatever the filter: rows that leave it are still
   * there. Rows that became visible after the reader had passed them (their transaction was slow), or moved to an earlier place, make
   * the partition be written again. A filter, or a later pass, chooses rows by what they contain, so they enter and leave as they
   * change: these are exported as they were when their place was read, and only rows that are new in the source count as missing.
   */
  private async checkRows(tenantId: TenantId, row: ExportRow, partition: PartitionRow, rows: number): Promise<void> {
    const { partitionId, attempt, rowsSeen } = partition;
    const counted = await this.tools.reader.count(tenantId, selectionOf(row, partition, row.plannedAt!));
    const hasAll = row.filter === null && row.changedAfter === null;
    const seen = hasAll ? rowsSeen : (partition.sourceSeen ?? counted.sourceRows);
    if (counted.sourceRows < seen) throw exportFailures.rowsGone(counted.sourceRows, seen);
    const late = hasAll ? 0 : counted.sourceRows - seen;
    const isComplete = late === 0 && (rows === counted.rows || (!hasAll && rows >= Math.min(counted.rows, rowsSeen)));
    // Before the count is recorded: an attempt that compares with it must not find files that were written without these rows.
    if (!isComplete) await this.partitions.dropFiles(tenantId, partitionId, attempt, 0);
    await this.partitions.sawRows(tenantId, partitionId, attempt, counted.sourceRows, hasAll);
    if (late > 0) throw exportFailures.rowsLate(late);
    if (!isComplete) throw exportFailures.rowsMoved(rows, counted.rows);
  }

  /** Records the failure for the user, and decides whether the partition is retried. */
  private async recorded(tenantId: TenantId, partitionId: string, error: unknown): Promise<ExportFailure> {
    const failure = error instanceof ExportFailure ? error : toExportFailure(error);
    const failures = await this.partitions.addError(tenantId, partitionId, sentenceOf(failure), failure);
    this.logger.warn({ err: error, export_run_id: partitionId, failures }, 'An attempt at a partition failed');
    const isFinal = failure.isFinal || failures >= MAX_FAILURES;
    return new ExportFailure(failure.message, isFinal, failure, { cause: error });
  }
}
