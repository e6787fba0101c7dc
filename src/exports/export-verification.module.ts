import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CryptoModule } from '../crypto/crypto.module';
import { DestinationEntity } from './destinations/destination.entity';
import { DestinationsRepository } from './destinations/destinations.repository';
import { DestinationsService } from './destinations/destinations.service';
import { PartitionsRepository } from './partitions/partitions.repository';
import { ExportVerificationService } from './verification/export-verification.service';
import { ExportVerifier } from './verification/export-verifier';
import { ExportsRepository } from './exports.repository';
import { StorageModule } from '../storage/storage.module';

/** The records of exports, their stores, and the comparison of the two: for the api and for the command line. */
@Module({
  imports: [TypeOrmModule.forFeature([DestinationEntity]), CryptoModule, StorageModule],
  providers: [
    DestinationsRepository,
    DestinationsService,
    PartitionsRepository,
    ExportVerificationService,
    ExportVerifier,
    ExportsRepository,
  ],
  exports: [
    DestinationsRepository,
    DestinationsService,
    PartitionsRepository,
    ExportVerificationService,
    ExportsRepository,
  ],
})
export class ExportVerificationModule {}
