import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CryptoModule } from '../crypto/crypto.module';
import { StorageModule } from '../storage/storage.module';
import { DestinationEntity } from './destinations/destination.entity';
import { DestinationsRepository } from './destinations/destinations.repository';
import { DestinationsService } from './destinations/destinations.service';
import { ExportsRepository } from './exports.repository';
import { PartitionsRepository } from './partitions/partitions.repository';
import { ExportVerificationService } from './verification/export-verification.service';
import { ExportVerifier } from './verification/export-verifier';

const PROVIDERS = [
  DestinationsRepository,
  DestinationsService,
  ExportsRepository,
  ExportVerificationService,
  ExportVerifier,
  PartitionsRepository,
];

/** The records of exports, their stores, and the comparison of the two: for both processes and the command line. */
@Module({
  imports: [TypeOrmModule.forFeature([DestinationEntity]), CryptoModule, StorageModule],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class ExportsModule {}
