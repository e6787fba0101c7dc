import { Module } from '@nestjs/common';
import { CryptoModule } from '../crypto/crypto.module';
import { RunsModule } from '../runs/runs.module';
import { TemporalModule } from '../temporal/temporal.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { ExportProgressService } from './api/export-progress.service';
import { ExportsController } from './api/exports.controller';
import { ExportsService } from './api/exports.service';
import { DestinationsController } from './destinations/destinations.controller';
import { ExportPreviewService } from './preview/export-preview.service';
import { ExportWebhooks } from './export-webhooks';
import { ExportsModule } from './exports.module';
import { ExportManifestService } from './verification/export-manifest.service';

/** The api's half. The destinations' routes come first: `destinations` is not an export's id. */
@Module({
  imports: [CryptoModule, ExportsModule, RunsModule, TemporalModule, WebhooksModule],
  controllers: [DestinationsController, ExportsController],
  providers: [ExportManifestService, ExportPreviewService, ExportProgressService, ExportWebhooks, ExportsService],
})
export class ExportsApiModule {}
