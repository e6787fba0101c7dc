import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CryptoModule } from '../crypto/crypto.module';
import { DestinationEntity } from './destination.entity';
import { DestinationsRepository } from './destinations.repository';
import { DestinationsService } from './destinations.service';
import { ExportRunsRepository } from './export-runs.repository';
import { ExportVerificationService } from './export-verification.service';
import { ExportVerifier } from './export-verifier';
import { ExportsRepository } from './exports.repository';
import { ObjectStores } from './object-stores';

/** The records of exports, their stores, and the comparison of the two: for the api and for the command line. */
@Module({
  imports: [TypeOrmModule.forFeature([DestinationEntity]), CryptoModule],
  providers: [
    DestinationsRepository,
    DestinationsService,
    ExportRunsRepository,
    ExportVerificationService,
    ExportVerifier,
    ExportsRepository,
    ObjectStores,
  ],
  exports: [
    DestinationsRepository,
    DestinationsService,
    ExportRunsRepository,
    ExportVerificationService,
    ExportsRepository,
  ],
})
export class ExportVerificationModule {}
