import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CryptoModule } from '../crypto/crypto.module';
import { TemporalModule } from '../temporal/temporal.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { DestinationEntity } from './destination.entity';
import { DestinationsController } from './destinations.controller';
import { DestinationsRepository } from './destinations.repository';
import { DestinationsService } from './destinations.service';
import { ExportProgressService } from './export-progress.service';
import { ExportRunsRepository } from './export-runs.repository';
import { ExportVerificationService } from './export-verification.service';
import { ExportVerifier } from './export-verifier';
import { ExportWebhooks } from './export-webhooks';
import { ExportsController } from './exports.controller';
import { ExportsRepository } from './exports.repository';
import { ExportsService } from './exports.service';
import { ObjectStores } from './object-stores';

/** Bulk export, as the api process has it. The destinations' routes come first: `destinations` is not an export's id. */
@Module({
  imports: [TypeOrmModule.forFeature([DestinationEntity]), CryptoModule, TemporalModule, WebhooksModule],
  controllers: [DestinationsController, ExportsController],
  providers: [
    DestinationsRepository,
    DestinationsService,
    ExportProgressService,
    ExportRunsRepository,
    ExportVerificationService,
    ExportVerifier,
    ExportWebhooks,
    ExportsRepository,
    ExportsService,
    ObjectStores,
  ],
})
export class ExportsModule {}
