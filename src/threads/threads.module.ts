import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { TemporalModule } from '../temporal/temporal.module';
import { ThreadListeners } from './thread-listeners';
import { ThreadRemoval } from './thread-removal';
import { ThreadEntity } from './thread.entity';
import { ThreadsRepository } from './threads.repository';
import { ThreadsService } from './threads.service';

/** Threads as records, in both processes; requests, their expiry and the truncation for tests delete them in one way. */
@Module({
  imports: [DiscoveryModule, TypeOrmModule.forFeature([ThreadEntity]), CustomAuthModule, TemporalModule],
  providers: [ThreadListeners, ThreadRemoval, ThreadsRepository, ThreadsService],
  exports: [ThreadRemoval, ThreadsRepository, ThreadsService],
})
export class ThreadsModule {}
