import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TemporalModule } from '../temporal/temporal.module';
import { ThreadExpiryScheduleSweep } from './thread-expiry-schedule.sweep';
import { ThreadExpiryRepository } from './thread-expiry.repository';
import { ThreadExpiryService } from './thread-expiry.service';
import { ThreadRetentionSweep } from './thread-retention.sweep';
import { ThreadEntity } from './thread.entity';
import { ThreadsModule } from './threads.module';

/** The worker's half: the removal of expired threads and checkpoints. */
@Module({
  imports: [TypeOrmModule.forFeature([ThreadEntity]), TemporalModule, ThreadsModule],
  providers: [ThreadExpiryRepository, ThreadExpiryScheduleSweep, ThreadExpiryService, ThreadRetentionSweep],
  exports: [ThreadExpiryService],
})
export class ThreadsWorkerModule {}
