import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { EntitlementsService } from '../auth/entitlements.service';
import type { TenantId } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { DestinationsService, OpenDestination } from './destinations/destinations.service';
import { ExportColumn, exportColumns } from './parquet/export-columns';
import { ExportFailure, exportFailures } from './export-failure';
import { ExportMetrics } from './export.metrics';
import { dayFolder, exportFolder, partName } from './destinations/export-layout';
import { exportManifest } from './verification/export-manifest';
import { PartFile, PartitionRow, PartitionsRepository } from './partitions/partitions.repository';
import { ExportVerifier } from './verification/export-verifier';
import { ExportWebhooks } from './export-webhooks';
import { ExportRow, ExportsRepository, OnEnd, SpawnWindow } from './exports.repository';
import { ObjectStores } from './object-stores';
import { sentenceOf } from './s3-errors';
import { EncodingError, ParquetEncoder, SpooledPart } from './parquet/parquet-encoder';
import { PartReader, PartRows } from './partitions/part-reader';
import type { RowSelection } from './partitions/row-selection';
import { TraceReader } from './partitions/trace-reader';

/** A window of a schedule is exported this long after its end (contract), so that late runs of it are in. */
const SPAWN_DELAY_SECONDS = 600;
/** Partitions handed to the workflow at once: a history holds ids, not ten years of them. */
const PLAN_PAGE = 200;
/** Failures of the store or the database, without a file in between, after which a partition gives up. */
const MAX_FAILURES = 20;
/** A partition without a beat for a minute is shown as stalled. */
const BEAT_MS = 10_000;
/** Sizes that are asked for together at the end of an export. */
const HEADS_AT_ONCE = 16;
/** Parts that have been read and are not encoded yet, the current one among them: they wait in files. */
const WAITING_PARTS = 3;
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
    private readonly partitions: PartitionsRepository,
    private readonly destinations: DestinationsService,
    private readonly stores: ObjectStores,
    private readonly reader: TraceReader,
    private readonly encoder: ParquetEncoder,
    private readonly verifier: ExportVerifier,
    private readonly metrics: ExportMetrics,
    private readonly webhooks: ExportWebhooks,
    private readonly entitlements: EntitlementsService,
  ) {}

  /** How long the export may still run, when it is its turn; `wait` when others are first, `over` when it has ended. */
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
      const beats = this.beats(() => this.exports.beat(tenantId, exportId));
      try {
        const watermark = await this.reader.watermark(signal);
        const counts = await this.reader.countDays(tenantId, selectionOf(row, row, watermark));
        await this.partitions.plan(tenantId, exportId, watermark, counts);
      } finally {
        clearInterval(beats);
      }
      row = await this.running(tenantId, exportId);
    }
    return { row, open: await this.partitions.open(tenantId, exportId, PLAN_PAGE) };
  }

  /**
   * Writes what is left of a partition, file by file, and verifies all of it.
   * @throws {ExportFailure} final, when no further attempt can help.
   */
  async exportPartition(
    tenantId: TenantId,
    exportId: string,
    partitionId: string,
    signal: AbortSignal,
    onProgress: (progress: PartitionProgress) => void,
  ): Promise<PartitionOutcome> {
    try {
      const outcome = await this.attempt(tenantId, exportId, partitionId, signal, onProgress);
      this.metrics.partitionAttempted('completed');
      return outcome;
    } catch (error) {
      // A cancelled attempt and one that has lost the partition haven't failed.
      const isStopped = signal.aborted || error instanceof LostPartition;
      this.metrics.partitionAttempted(isStopped ? 'stopped' : 'failed');
      if (isStopped) throw error;
      throw await this.recorded(tenantId, partitionId, error);
    }
  }

  async failPartition(tenantId: TenantId, partitionId: string, message: string): Promise<void> {
    await this.partitions.fail(tenantId, partitionId, message);
  }

  /**
   * Writes the manifest and then `_SUCCESS`, and completes the export; resolves to false when it was cancelled first.
   * @throws {ExportFailure} when what was written isn't what was planned.
   */
  async complete(tenantId: TenantId, exportId: string, signal: AbortSignal): Promise<boolean> {
    const row = await this.exports.find(tenantId, exportId);
    if (row?.status === 'Completed') return true;
    if (row?.status !== 'Running') return false;
    const partitions = await this.partitions.list(tenantId, exportId, null, 0);
    const unfinished = partitions.filter(({ status }) => status !== 'Completed');
    if (unfinished.length > 0) throw await this.noted(tenantId, exportId, exportFailures.incomplete(unfinished.length));
    const files = await this.partitions.filesOf(tenantId, exportId);
    const destination = await this.destinations.open(tenantId, row.destinationId);
    const beats = this.beats(() => this.exports.beat(tenantId, exportId));
    try {
      const wrong = await this.wrongSize(destination, files, signal);
      if (wrong) throw exportFailures.lostFile(wrong.objectKey);
      const folder = exportFolder(destination.config, exportId);
      const manifest = exportManifest(row, partitions, files, destination.config);
      const publish = async (): Promise<void> => {
        await destination.store.put(`${folder}/_manifest.json`, Buffer.from(manifest), {
          contentType: 'application/json',
          signal,
        });
        await destination.store.put(`${folder}/_SUCCESS`, Buffer.alloc(0), { signal });
      };
      const isCompleted = await this.ending(tenantId, (onEnd) =>
        this.exports.complete(tenantId, exportId, publish, onEnd),
      );
      if (isCompleted) this.metrics.exportEnded('Completed');
      return isCompleted;
    } catch (error) {
      if (signal.aborted) throw error;
      throw await this.noted(tenantId, exportId, error instanceof ExportFailure ? error : this.explained(error));
    } finally {
      clearInterval(beats);
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
    await this.ending(tenantId, (onEnd) => this.exports.end(tenantId, exportId, ending, message, onEnd));
    this.metrics.exportEnded(ending);
  }

  /** The tenant's exports that may have their turn now. */
  waiting(tenantId: TenantId): Promise<string[]> {
    return this.exports.waiting(tenantId, this.config.exports.concurrency);
  }

  /** Where a running export is, which also shows that a worker has it. */
  async progress(tenantId: TenantId, exportId: string): Promise<ExportRow | undefined> {
    await this.exports.beat(tenantId, exportId);
    return this.exports.find(tenantId, exportId);
  }

  nextWindow(tenantId: TenantId, exportId: string) {
    return this.exports.nextWindow(tenantId, exportId, SPAWN_DELAY_SECONDS, this.config.exports.latePassSeconds);
  }

  /** The export of a schedule's window, or the later pass over one; undefined when there is none to be made (yet). */
  async spawn(tenantId: TenantId, sourceId: string, window: SpawnWindow): Promise<string | undefined> {
    // Asked again every minute until the operator gives it back: no window of the schedule is left out.
    await this.entitlements.require(tenantId, 'bulk_export');
    const { latePassSeconds } = this.config.exports;
    const exportId = window.latePassOf
      ? await this.exports.spawnLatePass(tenantId, sourceId, window.latePassOf, uuidv7(), latePassSeconds)
      : await this.exports.spawn(tenantId, sourceId, window, uuidv7());
    if (exportId) await this.exports.markSeen(tenantId, exportId);
    return exportId;
  }

  private async attempt(
    tenantId: TenantId,
    exportId: string,
    partitionId: string,
    signal: AbortSignal,
    onProgress: (progress: PartitionProgress) => void,
  ): Promise<PartitionOutcome> {
    const known = await this.partitions.find(tenantId, exportId, partitionId);
    if (known?.status === 'Completed') {
      return {
        rows: known.rowsWritten,
        bytes: known.bytesWritten,
        files: (await this.partitions.files(tenantId, partitionId)).length,
      };
    }
    const row = await this.exports.find(tenantId, exportId);
    const partition = await this.partitions.begin(tenantId, partitionId);
    if (!row || !partition) throw exportFailures.over(row?.status ?? 'gone');
    const destination = await this.destinations.open(tenantId, row.destinationId);
    const beats = this.beats(() => this.partitions.beat(tenantId, partitionId, partition.attempt));
    try {
      const work = new PartitionWork(
        this.config,
        this.partitions,
        this.reader,
        this.encoder,
        this.metrics,
        destination,
        tenantId,
        row,
        partition,
      );
      const files = await work.write(signal, onProgress);
      const verified = await this.verifyFiles(tenantId, partition, destination, files, signal);
      const rows = files.reduce((sum, file) => sum + file.rows, 0);
      await this.checkRows(tenantId, row, partition, rows);
      if (!(await this.partitions.complete(tenantId, partitionId, partition.attempt, verified)))
        throw new LostPartition();
      return { rows, bytes: files.reduce((sum, file) => sum + file.bytes, 0), files: files.length };
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
   * Compares what was written with the source. Rows that came to light behind the reader (their transaction was slow) or
   * moved past it are a partition to be written again; fewer rows than any attempt has seen are a loss and not a success.
   * Under a filter rows may come and go as they change, so there only a loss counts. Counted last, when all is stored: what
   * comes to light until then is seen.
   */
  private async checkRows(tenantId: TenantId, row: ExportRow, partition: PartitionRow, rows: number): Promise<void> {
    if (row.filter !== null && rows >= partition.rowsSeen) return;
    const counted = await this.reader.count(tenantId, selectionOf(row, partition, row.plannedAt!));
    if (row.filter !== null) {
      if (rows >= counted) return;
    } else {
      const seen = await this.partitions.sawRows(tenantId, partition.partitionId, counted);
      if (counted < seen) {
        throw exportFailures.rowsGone(counted, seen);
      }
      if (rows === counted) return;
    }
    await this.partitions.dropFiles(tenantId, partition.partitionId, partition.attempt, 0);
    throw exportFailures.rowsMoved(rows, counted);
  }

  /** The first file whose size in the store is another; none where sizes may not be read. */
  private async wrongSize(
    { store }: OpenDestination,
    files: PartFile[],
    signal: AbortSignal,
  ): Promise<PartFile | undefined> {
    for (let from = 0; from < files.length; from += HEADS_AT_ONCE) {
      const some = files.slice(from, from + HEADS_AT_ONCE);
      const sizes = await Promise.all(some.map(({ objectKey }) => store.size(objectKey, signal)));
      if (sizes.includes(undefined)) return undefined;
      const wrong = some.find(({ bytes }, index) => sizes[index] !== bytes);
      if (wrong) return wrong;
    }
    return undefined;
  }

  private async running(tenantId: TenantId, exportId: string): Promise<ExportRow> {
    const row = await this.exports.find(tenantId, exportId);
    if (row?.status !== 'Running') throw exportFailures.over(row?.status ?? 'gone');
    return row;
  }

  /** Writes the failure down for the user and decides whether the partition may be tried again. */
  private async recorded(tenantId: TenantId, partitionId: string, error: unknown): Promise<ExportFailure> {
    const failure = error instanceof ExportFailure ? error : this.explained(error);
    const failures = await this.partitions.addError(tenantId, partitionId, sentenceOf(failure), failure);
    this.logger.warn({ err: error, export_run_id: partitionId, failures }, 'An attempt at a partition failed');
    const isFinal = failure.isFinal || failures >= MAX_FAILURES;
    return new ExportFailure(failure.message, isFinal, failure, { cause: error });
  }

  private explained(error: unknown): ExportFailure {
    if (error instanceof EncodingError) return exportFailures.notEncoded(error.message, error);
    if (error instanceof QueryFailedError || error instanceof DatabaseError) {
      return exportFailures.notRead(error.message, error);
    }
    const problem = this.stores.explain(error);
    return new ExportFailure(problem.message, problem.isUserFault, problem, { cause: error });
  }

  /** Keeps code and hint of what ends an export; the sentence comes back by way of the workflow. */
  private async noted(tenantId: TenantId, exportId: string, failure: ExportFailure): Promise<ExportFailure> {
    await this.exports.noteFailure(tenantId, exportId, failure);
    return failure;
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

  /** Signs of life in the database, where the API sees them; one that can't be given is no reason to stop. */
  private beats(beat: () => Promise<void>): NodeJS.Timeout {
    return setInterval(() => {
      beat().catch((error: unknown) => this.logger.debug({ err: error }, 'A sign of life could not be given'));
    }, BEAT_MS);
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
    private readonly partitions: PartitionsRepository,
    private readonly reader: TraceReader,
    private readonly encoder: ParquetEncoder,
    private readonly metrics: ExportMetrics,
    private readonly destination: OpenDestination,
    private readonly tenantId: TenantId,
    private readonly row: ExportRow,
    private readonly partition: PartitionRow,
  ) {
    this.columns = exportColumns({ ...row, sessionId: partition.sessionId });
    this.selection = selectionOf(row, partition, row.plannedAt!);
  }

  /**
   * While a part is uploaded the next one is encoded, and those behind it are read: these wait in files, so that the
   * database need not wait for the encoder. Files are recorded in their order.
   */
  async write(signal: AbortSignal, onProgress: (progress: PartitionProgress) => void): Promise<PartFile[]> {
    const files = await this.partitions.files(this.tenantId, this.partition.partitionId);
    const after = files.at(-1)?.lastKey ?? null;
    const reader = this.reader.parts(this.tenantId, this.selection, this.columns, after);
    const waiting: Promise<void>[] = [];
    let encoding = Promise.resolve();
    let storing = Promise.resolve();
    let storingBefore = storing;
    try {
      for (let part = files.length; ; part += 1) {
        signal.throwIfAborted();
        onProgress(progressOf(files));
        const spooled = await this.read(reader, signal);
        if (!spooled) break;
        const encoded = this.encodeBehind(Promise.all([encoding, storingBefore]), spooled, signal);
        storingBefore = storing;
        encoding = encoded.then(() => undefined);
        storing = this.storeBehind(storing, part, spooled, encoded, signal).then((file) => void files.push(file));
        // Awaited in a later round, or below: meanwhile their failures have handlers.
        encoding.catch(() => undefined);
        storing.catch(() => undefined);
        if (waiting.push(encoding) === WAITING_PARTS) await waiting.shift();
      }
      await storing;
      onProgress(progressOf(files));
      return files;
    } finally {
      reader.close();
      // An attempt that is over writes no more.
      await Promise.allSettled([encoding, storing]);
    }
  }

  private async read(reader: PartReader, signal: AbortSignal): Promise<(SpooledPart & PartRows) | undefined> {
    const limit = { rows: this.config.exports.partRows, bytes: this.config.exports.partBytes };
    const { path, written } = await this.encoder.spool((append) => reader.next(limit, append, signal));
    if (written) return { path, ...written };
    await this.encoder.discard(path);
    return undefined;
  }

  private async encodeBehind(before: Promise<unknown>, spooled: SpooledPart, signal: AbortSignal): Promise<Buffer> {
    try {
      await before;
    } catch (error) {
      await this.encoder.discard(spooled.path);
      throw error;
    }
    return this.encoder.encode(this.columns, spooled, this.row.compression, signal);
  }

  private async storeBehind(
    before: Promise<void>,
    part: number,
    spooled: PartRows,
    encoded: Promise<Buffer>,
    signal: AbortSignal,
  ): Promise<PartFile> {
    await before;
    return this.store(part, spooled, await encoded, signal);
  }

  private async store(part: number, spooled: PartRows, file: Buffer, signal: AbortSignal): Promise<PartFile> {
    const { tenantId, row, partition } = this;
    const { config, store } = this.destination;
    const objectKey = `${dayFolder(config, { exportId: row.exportId, tenantId, sessionId: partition.sessionId }, partition.day)}/${partName(partition.day, part)}`;
    const md5 = createHash('md5').update(file).digest();
    // Asked last before the upload: an attempt that was replaced meanwhile must not write over the other's file.
    if (!(await this.partitions.holds(tenantId, partition.partitionId, partition.attempt))) throw new LostPartition();
    await store.put(objectKey, file, { contentType: PARQUET, md5, signal });
    const { rows, firstKey, lastKey } = spooled;
    const written: PartFile = {
      partitionId: partition.partitionId,
      part,
      objectKey,
      rows,
      bytes: file.length,
      md5: md5.toString('hex'),
      firstKey,
      lastKey,
    };
    if (!(await this.partitions.addFile(tenantId, partition.attempt, written))) throw new LostPartition();
    this.metrics.fileWritten(rows, file.length);
    return written;
  }
}

function selectionOf(
  { filter, changedAfter }: Pick<ExportRow, 'filter' | 'changedAfter'>,
  window: { sessionId: string | null; startTime: string; endTime: string | null },
  watermark: string,
): RowSelection {
  if (window.endTime === null) throw new Error('A schedule has no rows of its own');
  const { sessionId, startTime, endTime } = window;
  return { projectId: sessionId, startTime, endTime, watermark, changedAfter, filter };
}

function progressOf(files: PartFile[]): PartitionProgress {
  const last = files.at(-1)?.lastKey;
  return {
    part: files.length,
    lastKey: last ? `${last.startTime},${last.runId}` : null,
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
  };
}
