import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { EventAppender } from './event-appender';
import { EventLogRepository } from './event-log.repository';
import { EventPartitionSweep } from './event-partitions';
import { EventReader } from './event-reader';

/** Reading, for the api. */
@Module({
  imports: [DatabaseModule],
  providers: [EventLogRepository, EventReader],
  exports: [EventLogRepository, EventReader],
})
export class EventReadingModule {}

/** Writing, for the worker. */
@Module({
  providers: [EventLogRepository, EventAppender, EventPartitionSweep],
  exports: [EventAppender, EventLogRepository],
})
export class EventWritingModule {}
