import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import type { TenantId } from '../../auth/tenant';
import { DestinationsService } from '../destinations/destinations.service';
import type { PartFile } from '../partitions/partition-row';
import { PartitionsRepository } from '../partitions/partitions.repository';
import { exportFolder, objectPath } from '../destinations/export-layout';
import { ExportVerifier, GONE_OR_FORBIDDEN } from './export-verifier';
import { exportErrors } from '../exports.errors';
import { ExportsRepository } from '../exports.repository';
import type { ExportVerification, VerificationProblem } from '../api/export-responses.schemas';
import { type Found, type ObjectStore, readText } from '../../storage/object-store';
import { explainStoreError, sentenceOf } from '../../storage/store-error';

/** Files whose bytes are read together: each passes through in pieces. */
const READS_AT_ONCE = 4;

interface ListedFile {
  path: string;
  rows: number;
  bytes: number;
  md5: string;
}

/** Compares the objects of a complete export in the bucket with what was written, at any later time. */
@Injectable()
export class ExportVerificationService {
  constructor(
    private readonly exports: ExportsRepository,
    private readonly partitions: PartitionsRepository,
    private readonly destinations: DestinationsService,
    private readonly verifier: ExportVerifier,
  ) {}

  /**
   * Reads `_manifest.json`, `_SUCCESS` and the footer of each file from the bucket; with `checksums` all their bytes.
   * @throws {ApiError} 404; 409 when the export isn't complete; 400 when the store can't be asked.
   */
  async verify(
    tenantId: TenantId,
    exportId: string,
    checksums: boolean,
    signal?: AbortSignal,
  ): Promise<ExportVerification> {
    const row = await this.exports.findExport(tenantId, exportId);
    if (!row) throw exportErrors.exportNotFound(exportId);
    if (row.status !== 'Completed') throw exportErrors.exportNotComplete(exportId, row.status);
    const files = await this.partitions.filesOf(tenantId, exportId);
    const { place, store } = await this.destinations.openDestination(tenantId, row.destinationId);
    try {
      const folder = exportFolder(place, exportId);
      const path = (key: string): string => objectPath(place, key);
      const problems: VerificationProblem[] = [];
      const report = (key: string, problem: string): void => void problems.push({ path: path(key), problem });

      const manifest = await readText(store, `${folder}/_manifest.json`, signal);
      const success = await store.head(`${folder}/_SUCCESS`, signal);
      // Not by `_SUCCESS`: its size needs no permission to decrypt, unlike the content of a file.
      const mayRead = manifest.state === 'found';
      const checks = await this.verifier.check(store, files, signal, mayRead);
      if (manifest.state === 'forbidden' && checks.every(({ check }) => check.state === 'unreadable')) {
        report(`${folder}/_manifest.json`, `cannot be read: the credentials have no ${store.permissions.read}`);
      } else {
        for (const problem of manifestProblems(manifest, files, path)) report(`${folder}/_manifest.json`, problem);
        if (success.state !== 'found') report(`${folder}/_SUCCESS`, problemOf(success.state));
        for (const { file, check } of checks) {
          if (check.state === 'wrong') report(file.objectKey, check.problem);
          if (check.state === 'unreadable') report(file.objectKey, GONE_OR_FORBIDDEN);
        }
        const wrong = new Set(problems.map((problem) => problem.path));
        const sound = files.filter(({ objectKey }) => !wrong.has(path(objectKey)));
        if (checksums) {
          for (const { objectKey } of await wrongChecksums(store, sound, signal)) {
            report(objectKey, 'has other bytes than those that were written (MD5)');
          }
        }
      }
      const isVerified = problems.length === 0;
      if (isVerified) await this.exports.markVerified(tenantId, exportId);
      return {
        export_id: exportId,
        verified: isVerified,
        checksums,
        files: files.length,
        rows: files.reduce((sum, { rows }) => sum + rows, 0),
        bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
        problems,
      };
    } catch (error) {
      signal?.throwIfAborted();
      throw exportErrors.storeFailed(sentenceOf(explainStoreError(error)));
    } finally {
      store.close();
    }
  }
}

/** Continues the path of an object that can't be read, where others can. */
function problemOf(state: 'missing' | 'forbidden'): string {
  return state === 'missing' ? 'is not in the bucket' : GONE_OR_FORBIDDEN;
}

/** Differences between the manifest in the bucket and the record of what was written. */
function manifestProblems(manifest: Found<string>, files: PartFile[], path: (key: string) => string): string[] {
  if (manifest.state !== 'found') return [problemOf(manifest.state)];
  const listed = listedFiles(manifest.value);
  if (!listed) return ['is not a manifest'];
  const byPath = new Map(listed.map((file) => [file.path, file]));
  const problems: string[] = [];
  for (const file of files) {
    const found = byPath.get(path(file.objectKey));
    byPath.delete(path(file.objectKey));
    if (!found) problems.push(`does not list ${path(file.objectKey)}`);
    else if (found.rows !== file.rows || found.bytes !== file.bytes || found.md5 !== file.md5) {
      problems.push(`says something else of ${found.path} than what was written`);
    }
  }
  for (const extra of byPath.keys()) problems.push(`lists ${extra}, which was not written`);
  return problems;
}

function listedFiles(text: string): ListedFile[] | undefined {
  try {
    const { partitions } = JSON.parse(text) as { partitions: { files: ListedFile[] }[] };
    return partitions.flatMap(({ files }) => files);
  } catch {
    // Users can change the file so that it is no valid manifest any more.
    return undefined;
  }
}

async function wrongChecksums(store: ObjectStore, files: PartFile[], signal?: AbortSignal): Promise<PartFile[]> {
  const checksums = await pLimit(READS_AT_ONCE).map(files, ({ objectKey }) => store.checksum(objectKey, signal));
  return files.filter(({ md5 }, index) => {
    const checksum = checksums[index];
    return checksum.state !== 'found' || checksum.value !== md5;
  });
}
