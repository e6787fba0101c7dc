import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { EventReader } from './event-reader';
import { StreamsModule } from './streams.module';

/** The api's half: reading the log, and following it. */
@Module({
  imports: [DatabaseModule, StreamsModule],
  providers: [EventReader],
  exports: [EventReader, StreamsModule],
})
export class StreamsApiModule {}
