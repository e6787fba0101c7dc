import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { DestinationsService, OpenDestination } from './destinations.service';
import { ExportColumn, exportColumns } from './export-columns';
import { ExportFailure } from './export-failure';
import { dayFolder, exportFolder, partName } from './export-layout';
import { exportManifest, Verification } from './export-manifest';
import { ExportFile, ExportRunRow, ExportRunsRepository } from './export-runs.repository';
import { ExportRow, ExportsRepository } from './exports.repository';
import { ObjectStores } from './object-stores';
import { ParquetEncoder } from './parquet-encoder';
import { RowSelection, TraceReader } from './trace-reader';

/** A window of a schedule is exported this long after its end (contract), so that late runs of it are in. */
const SPAWN_DELAY_SECONDS = 600;
/** Partitions handed to the workflow at once: a history holds ids, not ten years of them. */
const PLAN_PAGE = 200;
/** Failures of the store or the database, without a file in between, after which a partition gives up. */
const MAX_FAILURES = 20;
const PARQUET = 'application/vnd.apache.parquet';

export interface PartitionProgress {
  part: number;
  lastKey: string | null;
  rows: number;
  bytes: number;
}

export interface PartitionOutcome {
  rows: number;
  bytes: number;
  files: number;
}

/** The work of exports. Every method may be called twice: what was done is in the rows, and is not done again. */
@Injectable()
export class ExportExecutionService {
  private readonly logger = new Logger(ExportExecutionService.name);

  constructor(
    private readonly config: AppConfig,
    private readonly exports: ExportsRepository,
    private readonly runs: ExportRunsRepository,
    private readonly destinations: DestinationsService,
    private readonly stores: ObjectStores,
    private readonly reader: TraceReader,
    private readonly encoder: ParquetEncoder,
  ) {}

  /** How long the export may still run, when it is its turn; `wait` when others are first, `over` when it has ended. */
  async takeTurn(tenantId: TenantId, exportId: string): Promise<number | 'wait' | 'over'> {
    const { concurrency, timeoutMs } = this.config.exports;
    const state = await this.exports.takeTurn(tenantId, exportId, concurrency);
    if (state?.status === 'Created') return 'wait';
    if (state?.status !== 'Running') return 'over';
    return Math.max(1, timeoutMs - state.elapsedMs);
  }

  /** Plans the partitions when that hasn't been done, and tells which are open. */
  async plan(
    tenantId: TenantId,
    exportId: string,
    signal: AbortSignal,
  ): Promise<{ row: ExportRow; open: { exportRunId: string; day: string }[] }> {
    let row = await this.running(tenantId, exportId);
    if (row.plannedAt === null) {
      const watermark = await this.reader.watermark(signal);
      const counts = await this.reader.countDays(tenantId, selectionOf(row, row, watermark));
      await this.runs.plan(tenantId, exportId, watermark, counts);
      row = await this.running(tenantId, exportId);
    }
    return { row, open: await this.runs.open(tenantId, exportId, PLAN_PAGE) };
  }

  /**
   * Writes what is left of a partition, file by file, and verifies all of it.
   * @throws {ExportFailure} final, when no further attempt can help.
   */
  async exportPartition(
    tenantId: TenantId,
    exportId: string,
    exportRunId: string,
    signal: AbortSignal,
    onProgress: (progress: PartitionProgress) => void,
  ): Promise<PartitionOutcome> {
    try {
      return await this.attempt(tenantId, exportId, exportRunId, signal, onProgress);
    } catch (error) {
      // A cancelled attempt and one that has lost the partition haven't failed.
      if (signal.aborted || error instanceof LostPartition) throw error;
      throw await this.recorded(tenantId, exportRunId, error);
    }
  }

  async failPartition(tenantId: TenantId, exportRunId: string, message: string): Promise<void> {
    await this.runs.fail(tenantId, exportRunId, message);
  }

  /**
   * Writes the manifest and then `_SUCCESS`, and completes the export; resolves to false when it was cancelled first.
   * @throws {ExportFailure} when what was written isn't what was planned.
   */
  async complete(tenantId: TenantId, exportId: string, signal: AbortSignal): Promise<boolean> {
    const row = await this.exports.find(tenantId, exportId);
    if (row?.status === 'Completed') return true;
    if (row?.status !== 'Running') return false;
    const runs = await this.runs.list(tenantId, exportId, null, 0);
    const unfinished = runs.filter(({ status }) => status !== 'Completed');
    if (unfinished.length > 0) throw new ExportFailure(`${unfinished.length} partitions are not complete`, true);
    const files = await this.runs.filesOf(tenantId, exportId);
    const destination = await this.destinations.open(tenantId, row.destinationId);
    try {
      const verification = await this.sizes(destination, files, signal);
      const folder = exportFolder(destination.config, exportId);
      const manifest = exportManifest(row, runs, files, destination.config, verification.canRead);
      return await this.exports.complete(tenantId, exportId, async () => {
        await destination.store.put(`${folder}/_manifest.json`, Buffer.from(manifest), {
          contentType: 'application/json',
          signal,
        });
        await destination.store.put(`${folder}/_SUCCESS`, Buffer.alloc(0), { signal });
      });
    } catch (error) {
      throw signal.aborted || error instanceof ExportFailure ? error : this.explained(error);
    } finally {
      destination.store.close();
    }
  }

  /** Ends an export that won't be completed, with its open partitions. */
  async end(
    tenantId: TenantId,
    exportId: string,
    ending: 'Failed' | 'Cancelled' | 'TimedOut',
    message: string | undefined,
  ): Promise<void> {
    await this.exports.end(tenantId, exportId, ending, message);
  }

  /** The tenant's exports that may have their turn now. */
  waiting(tenantId: TenantId): Promise<string[]> {
    return this.exports.waiting(tenantId, this.config.exports.concurrency);
  }

  nextWindow(tenantId: TenantId, exportId: string) {
    return this.exports.nextWindow(tenantId, exportId, SPAWN_DELAY_SECONDS);
  }

  async spawn(
    tenantId: TenantId,
    sourceId: string,
    window: { start: string; end: string },
  ): Promise<string | undefined> {
    const exportId = await this.exports.spawn(tenantId, sourceId, window, uuidv7());
    if (exportId) await this.exports.markSeen(tenantId, exportId);
    return exportId;
  }

  private async attempt(
    tenantId: TenantId,
    exportId: string,
    exportRunId: string,
    signal: AbortSignal,
    onProgress: (progress: PartitionProgress) => void,
  ): Promise<PartitionOutcome> {
    const known = await this.runs.find(tenantId, exportId, exportRunId);
    if (known?.status === 'Completed') {
      return {
        rows: known.rowsWritten,
        bytes: known.bytesWritten,
        files: (await this.runs.files(tenantId, exportRunId)).length,
      };
    }
    const row = await this.exports.find(tenantId, exportId);
    const run = await this.runs.begin(tenantId, exportRunId);
    if (!row || !run) throw new ExportFailure('The export has ended', true);
    const destination = await this.destinations.open(tenantId, row.destinationId);
    try {
      const work = new PartitionWork(
        this.config,
        this.runs,
        this.reader,
        this.encoder,
        destination,
        tenantId,
        row,
        run,
      );
      const files = await work.write(signal, onProgress);
      const { missing } = await this.sizes(destination, files, signal);
      if (missing) {
        await this.runs.dropFiles(tenantId, exportRunId, run.attempt, missing.part);
        throw new ExportFailure(
          `${missing.objectKey} is not in the bucket as it was written; it is written again`,
          false,
        );
      }
      const rows = files.reduce((sum, file) => sum + file.rows, 0);
      await this.checkRows(tenantId, row, run, rows);
      if (!(await this.runs.complete(tenantId, exportRunId, run.attempt))) throw new LostPartition();
      return { rows, bytes: files.reduce((sum, file) => sum + file.bytes, 0), files: files.length };
    } finally {
      destination.store.close();
    }
  }

  /** Fewer rows than were counted are a loss and not a success. A filter may have let go of rows that changed. */
  private async checkRows(tenantId: TenantId, row: ExportRow, run: ExportRunRow, rows: number): Promise<void> {
    if (rows >= run.rowsPlanned) return;
    const counted = await this.reader.count(tenantId, selectionOf(row, run, row.plannedAt!));
    if (row.filter !== null && rows >= counted) return;
    throw new ExportFailure(
      `${rows} rows were written where ${run.rowsPlanned} were counted before: rows are gone`,
      true,
    );
  }

  /** Compares the sizes of files in the store with what was written, where reading is permitted. */
  private async sizes(
    { store }: OpenDestination,
    files: ExportFile[],
    signal: AbortSignal,
  ): Promise<Verification & { missing?: ExportFile }> {
    for (const file of files) {
      const size = await store.size(file.objectKey, signal);
      if (size === undefined) return { canRead: false };
      if (size !== file.bytes) return { canRead: true, missing: file };
    }
    return { canRead: true };
  }

  private async running(tenantId: TenantId, exportId: string): Promise<ExportRow> {
    const row = await this.exports.find(tenantId, exportId);
    if (row?.status !== 'Running') throw new ExportFailure(`The export is ${row?.status ?? 'gone'}`, true);
    return row;
  }

  /** Writes the failure down for the user and decides whether the partition may be tried again. */
  private async recorded(tenantId: TenantId, exportRunId: string, error: unknown): Promise<ExportFailure> {
    const failure = error instanceof ExportFailure ? error : this.explained(error);
    const failures = await this.runs.addError(tenantId, exportRunId, failure.message);
    this.logger.warn({ err: error, export_run_id: exportRunId, failures }, 'An attempt at a partition failed');
    return new ExportFailure(failure.message, failure.isFinal || failures >= MAX_FAILURES, { cause: error });
  }

  private explained(error: unknown): ExportFailure {
    const { message, isUserFault } = this.stores.explain(error);
    return new ExportFailure(message, isUserFault, { cause: error });
  }
}

/** Another attempt has the partition, or the export has ended: this one must not write any more. */
export class LostPartition extends Error {
  override readonly name = 'LostPartition';
}

/** An attempt at a partition: from the last recorded file to the end of its window. */
class PartitionWork {
  private readonly columns: ExportColumn[];
  private readonly selection: RowSelection;

  constructor(
    private readonly config: AppConfig,
    private readonly runs: ExportRunsRepository,
    private readonly reader: TraceReader,
    private readonly encoder: ParquetEncoder,
    private readonly destination: OpenDestination,
    private readonly tenantId: TenantId,
    private readonly row: ExportRow,
    private readonly run: ExportRunRow,
  ) {
    this.columns = exportColumns(row.exportFields);
    this.selection = selectionOf(row, run, row.plannedAt!);
  }

  async write(signal: AbortSignal, onProgress: (progress: PartitionProgress) => void): Promise<ExportFile[]> {
    const files = await this.runs.files(this.tenantId, this.run.exportRunId);
    for (;;) {
      signal.throwIfAborted();
      onProgress(progressOf(files));
      const file = await this.writePart(files, signal);
      if (!file) return files;
      files.push(file);
    }
  }

  private async writePart(files: ExportFile[], signal: AbortSignal): Promise<ExportFile | undefined> {
    const { tenantId, row, run, columns, selection } = this;
    const after = files.at(-1)?.lastKey ?? null;
    const limit = { rows: this.config.exports.partRows, bytes: this.config.exports.partBytes };
    const plan = await this.reader.nextPart(tenantId, selection, columns, after, limit);
    if (!plan) return undefined;
    const pages = this.reader.read(tenantId, selection, columns, after, plan.lastKey, signal);
    const { rows, file } = await this.encoder.encode(columns, pages, row.compression, signal);
    if (rows === 0) throw new ExportFailure('Rows disappeared while they were read', false);
    const part = files.length;
    const { config, store } = this.destination;
    const objectKey = `${dayFolder(config, { exportId: row.exportId, tenantId, sessionId: row.sessionId }, run.day)}/${partName(run.day, part)}`;
    // Asked last before the upload: an attempt that was replaced meanwhile must not write over the other's file.
    if (!(await this.runs.holds(tenantId, run.exportRunId, run.attempt))) throw new LostPartition();
    await store.put(objectKey, file, { contentType: PARQUET, signal });
    const written: ExportFile = {
      exportRunId: run.exportRunId,
      part,
      objectKey,
      rows,
      bytes: file.length,
      md5: createHash('md5').update(file).digest('hex'),
      firstKey: plan.firstKey,
      lastKey: plan.lastKey,
    };
    if (!(await this.runs.addFile(tenantId, run.attempt, written))) throw new LostPartition();
    return written;
  }
}

function selectionOf(
  { sessionId, filter }: Pick<ExportRow, 'sessionId' | 'filter'>,
  window: { startTime: string; endTime: string | null },
  watermark: string,
): RowSelection {
  if (window.endTime === null) throw new Error('A schedule has no rows of its own');
  return { projectId: sessionId, startTime: window.startTime, endTime: window.endTime, watermark, filter };
}

function progressOf(files: ExportFile[]): PartitionProgress {
  const last = files.at(-1)?.lastKey;
  return {
    part: files.length,
    lastKey: last ? `${last.startTime},${last.runId}` : null,
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
  };
}
