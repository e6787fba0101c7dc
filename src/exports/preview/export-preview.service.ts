import { addAbortSignal } from 'node:stream';
import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import type { TenantId } from '../../auth/tenant';
import { ApiError } from '../../http/api-error';
import { AnswerTooLarge, bytesOf } from '../../storage/bounded-answer';
import { md5Of, type ObjectStore } from '../../storage/object-store';
import { Patience } from '../../storage/patience';
import { explainStoreError, sentenceOf } from '../../storage/store-error';
import { objectPath } from '../destinations/export-layout';
import { DestinationsService } from '../destinations/destinations.service';
import { exportErrors } from '../exports.errors';
import { ExportsRepository } from '../exports.repository';
import type { PartFile } from '../partitions/partition-row';
import { PartitionsRepository } from '../partitions/partitions.repository';
import { previewParquet } from './parquet-preview';
import type { ExportPreview, PreviewQuery } from './preview.schemas';

/** Held in memory while it is read. Files end at 32 MiB of text by default. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Files that a process holds at once; other requests wait for their turn. */
const FILES_AT_ONCE = 2;
/** Time for waiting and reading. */
const TIMEOUT_MS = 20_000;

/**
 * Schema and first rows of a file in the bucket. The file is decoded only if its bytes are those that were written: a tenant
 * chooses what its bucket holds, and a file that claims a billion rows would take the api's memory.
 */
@Injectable()
export class ExportPreviewService {
  private readonly turns = pLimit(FILES_AT_ONCE);

  constructor(
    private readonly exports: ExportsRepository,
    private readonly partitions: PartitionsRepository,
    private readonly destinations: DestinationsService,
  ) {}

  /**
   * @throws {ApiError} 404 for an unknown export, run or file; 409 for a file that is too large, or isn't in the bucket as it
   *   was written; 400 when the store can't be read
   */
  async previewFile(
    tenantId: TenantId,
    exportId: string,
    partitionId: string,
    { file: path, rows }: PreviewQuery,
  ): Promise<ExportPreview> {
    const row = await this.exports.findExport(tenantId, exportId);
    if (!row) throw exportErrors.exportNotFound(exportId);
    const partition = await this.partitions.findPartition(tenantId, exportId, partitionId);
    if (!partition) throw exportErrors.partitionNotFound(partitionId);
    const files = await this.partitions.filesIn(tenantId, [partitionId]);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const { place, store } = await this.destinations.openDestination(tenantId, row.destinationId, Patience.question);
      try {
        const file = files.find(({ objectKey }) => path === undefined || objectPath(place, objectKey) === path);
        if (!file) throw exportErrors.fileNotFound(partitionId);
        const shownPath = objectPath(place, file.objectKey);
        if (file.bytes > MAX_FILE_BYTES) throw exportErrors.fileTooLarge(shownPath, MAX_FILE_BYTES);
        const preview = await this.turns(async () => {
          const bytes = await bytesAsWritten(store, file, shownPath, signal);
          return previewParquet(bytes, rows);
        });
        return { file: shownPath, bytes: file.bytes, rows_total: file.rows, ...preview };
      } finally {
        store.close();
      }
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (signal.aborted) throw exportErrors.storeFailed(`it took longer than ${TIMEOUT_MS / 1000} seconds`);
      throw exportErrors.storeFailed(sentenceOf(explainStoreError(error)));
    }
  }
}

/** All bytes of a file, after a comparison with the checksum of what was written. */
async function bytesAsWritten(
  store: ObjectStore,
  { objectKey, bytes: size, md5 }: PartFile,
  path: string,
  signal: AbortSignal,
): Promise<Buffer> {
  signal.throwIfAborted();
  const object = await store.read(objectKey, signal);
  if (object.state === 'missing') throw exportErrors.fileChanged(path, 'is not in the bucket');
  if (object.state === 'forbidden') {
    throw exportErrors.storeFailed(`the credentials have no ${store.permissions.read}`);
  }
  const bytes = await bytesOf(addAbortSignal(signal, object.value), size).catch((error: unknown) => {
    if (error instanceof AnswerTooLarge) return undefined;
    throw error;
  });
  if (!bytes || md5Of({ pieces: [bytes] }).toString('hex') !== md5) {
    throw exportErrors.fileChanged(path, 'has other bytes than those that were written');
  }
  return bytes;
}
