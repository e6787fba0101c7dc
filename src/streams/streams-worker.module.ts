import { Module } from '@nestjs/common';
import { EventAppender } from './event-appender';
import { EventPartitionSweep } from './event-partitions';
import { StreamsModule } from './streams.module';

/** The worker's half: appending to the log, and its partitions. */
@Module({
  imports: [StreamsModule],
  providers: [EventAppender, EventPartitionSweep],
  exports: [EventAppender, StreamsModule],
})
export class StreamsWorkerModule {}
