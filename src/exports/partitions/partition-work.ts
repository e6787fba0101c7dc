import { createHash } from 'node:crypto';
import type { TenantId } from '../../auth/tenant';
import type { AppConfig } from '../../config/config';
import { contentOf } from '../../storage/object-store';
import { partKey } from '../destinations/export-layout';
import type { OpenDestination } from '../destinations/destinations.service';
import type { ExportMetrics } from '../export.metrics';
import type { ExportRow } from '../export-row';
import { ExportColumn, exportColumns } from '../parquet/export-columns';
import type { ParquetEncoder, SpooledPart } from '../parquet/parquet-encoder';
import type { PartReader, PartRows } from './part-reader';
import type { PartFile, PartitionRow } from './partition-row';
import type { PartitionsRepository } from './partitions.repository';
import { RowSelection, selectionOf } from './row-selection';
import type { TraceReader } from './trace-reader';

/** Maximum of parts that are read but not encoded yet, including the current one; they wait in files. */
const WAITING_PARTS = 3;
const PARQUET = 'application/vnd.apache.parquet';

/** Progress of an attempt at a partition: part files so far, their rows and bytes, and the key of the last row. */
export interface PartitionProgress {
  part: number;
  lastKey: string | null;
  rows: number;
  bytes: number;
}

/** The resources of an attempt at a partition. */
export interface PartitionTools {
  config: AppConfig;
  partitions: PartitionsRepository;
  reader: TraceReader;
  encoder: ParquetEncoder;
  metrics: ExportMetrics;
}

/** Another attempt owns the partition, or the export has ended: this one must stop writing. */
export class LostPartition extends Error {
  override readonly name = 'LostPartition';
}

/** An attempt at a partition: from the last recorded file to the end of its window. */
export class PartitionWork {
  private readonly columns: ExportColumn[];
  private readonly selection: RowSelection;

  constructor(
    private readonly tools: PartitionTools,
    private readonly destination: OpenDestination,
    private readonly tenantId: TenantId,
    private readonly row: ExportRow,
    private readonly partition: PartitionRow,
  ) {
    this.columns = exportColumns({ ...row, sessionId: partition.sessionId });
    this.selection = selectionOf(row, partition, row.plannedAt!);
  }

  /**
   * While a part is uploaded the next one is encoded, and those after it are read: these wait in files, so that the
   * database need not wait for the encoder. Files are recorded in their order.
   */
  async write(signal: AbortSignal, onProgress: (progress: PartitionProgress) => void): Promise<PartFile[]> {
    const files = await this.tools.partitions.files(this.tenantId, this.partition.partitionId);
    const after = files.at(-1)?.lastKey ?? null;
    const reader = this.tools.reader.parts(this.tenantId, this.selection, this.columns, after);
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
        const encoded = this.encodeAfter(Promise.all([encoding, storingBefore]), spooled, signal);
        storingBefore = storing;
        encoding = encoded.then(() => undefined);
        storing = this.storeAfter(storing, part, spooled, encoded, signal).then((file) => void files.push(file));
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
    const limit = { rows: this.tools.config.exports.partRows, bytes: this.tools.config.exports.partBytes };
    const { path, written } = await this.tools.encoder.spool((append) => reader.next(limit, append, signal));
    if (written) return { path, ...written };
    await this.tools.encoder.discard(path);
    return undefined;
  }

  private async encodeAfter(before: Promise<unknown>, spooled: SpooledPart, signal: AbortSignal): Promise<Buffer> {
    try {
      await before;
    } catch (error) {
      await this.tools.encoder.discard(spooled.path);
      throw error;
    }
    return this.tools.encoder.encode(this.columns, spooled, this.row.compression, signal);
  }

  private async storeAfter(
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
    const { place, store } = this.destination;
    const identity = { exportId: row.exportId, tenantId, sessionId: partition.sessionId };
    const objectKey = partKey(place, identity, partition.day, part);
    const md5 = createHash('md5').update(file).digest();
    // At each repetition too: an attempt that was replaced while the store let it wait must not overwrite the other's file.
    const beforeSending = async (): Promise<void> => {
      const { partitionId, attempt } = partition;
      if (!(await this.tools.partitions.beginFile(tenantId, partitionId, attempt, part))) throw new LostPartition();
    };
    await store.put(objectKey, contentOf(file), { contentType: PARQUET, md5, signal, beforeSending });
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
    if (!(await this.tools.partitions.addFile(tenantId, partition.attempt, written))) throw new LostPartition();
    this.tools.metrics.fileWritten(rows, file.length);
    return written;
  }
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
