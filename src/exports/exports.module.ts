import { Module } from '@nestjs/common';
import { CryptoModule } from '../crypto/crypto.module';
import { TemporalModule } from '../temporal/temporal.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { DestinationsController } from './destinations/destinations.controller';
import { ExportProgressService } from './api/export-progress.service';
import { ExportVerificationModule } from './export-verification.module';
import { ExportWebhooks } from './export-webhooks';
import { ExportsController } from './api/exports.controller';
import { ExportsService } from './api/exports.service';

/** Bulk export, as the api process has it. The destinations' routes come first: `destinations` is not an export's id. */
@Module({
  imports: [CryptoModule, ExportVerificationModule, TemporalModule, WebhooksModule],
  controllers: [DestinationsController, ExportsController],
  providers: [ExportProgressService, ExportWebhooks, ExportsService],
})
export class ExportsModule {}
