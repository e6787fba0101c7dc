import { Injectable } from '@nestjs/common';
import type { TenantId } from '../../auth/tenant';
import { Patience } from '../../storage/patience';
import type { ExportManifest } from '../api/export-responses.schemas';
import { DestinationsService } from '../destinations/destinations.service';
import { exportErrors } from '../exports.errors';
import { ExportsRepository } from '../exports.repository';
import { PartitionsRepository } from '../partitions/partitions.repository';
import { exportManifest } from './export-manifest';

/** Manifests of complete exports, from the record of what was written: the bucket isn't read. */
@Injectable()
export class ExportManifestService {
  constructor(
    private readonly exports: ExportsRepository,
    private readonly partitions: PartitionsRepository,
    private readonly destinations: DestinationsService,
  ) {}

  /** @throws {ApiError} 404; 409 when the export isn't complete. */
  async read(tenantId: TenantId, exportId: string): Promise<ExportManifest> {
    const row = await this.exports.findExport(tenantId, exportId);
    if (!row) throw exportErrors.exportNotFound(exportId);
    if (row.status !== 'Completed') throw exportErrors.exportNotComplete(exportId, row.status);
    const partitions = await this.partitions.listPartitions(tenantId, exportId, null, 0);
    const files = await this.partitions.filesOf(tenantId, exportId);
    const destination = await this.destinations.openDestination(tenantId, row.destinationId, Patience.question);
    try {
      return JSON.parse(exportManifest(row, partitions, files, destination)) as ExportManifest;
    } finally {
      destination.store.close();
    }
  }
}
