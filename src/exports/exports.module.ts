import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CryptoModule } from '../crypto/crypto.module';
import { TemporalModule } from '../temporal/temporal.module';
import { DestinationEntity } from './destination.entity';
import { DestinationsController } from './destinations.controller';
import { DestinationsRepository } from './destinations.repository';
import { DestinationsService } from './destinations.service';
import { ExportRunsRepository } from './export-runs.repository';
import { ExportsController } from './exports.controller';
import { ExportsRepository } from './exports.repository';
import { ExportsService } from './exports.service';
import { ObjectStores } from './object-stores';

/** Bulk export, as the api process has it. The destinations' routes come first: `destinations` is not an export's id. */
@Module({
  imports: [TypeOrmModule.forFeature([DestinationEntity]), CryptoModule, TemporalModule],
  controllers: [DestinationsController, ExportsController],
  providers: [
    DestinationsRepository,
    DestinationsService,
    ExportRunsRepository,
    ExportsRepository,
    ExportsService,
    ObjectStores,
  ],
})
export class ExportsModule {}
