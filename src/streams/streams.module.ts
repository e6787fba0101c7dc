import { Module } from '@nestjs/common';
import { EventLogRepository } from './event-log.repository';

/** The table of run events. */
@Module({ providers: [EventLogRepository], exports: [EventLogRepository] })
export class StreamsModule {}
