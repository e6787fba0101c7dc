import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { ServerModule } from '../server/server.module';
import { RunsModule } from '../runs/runs.module';
import { EventReadingModule } from '../streams/streams.module';
import { ThreadsModule } from '../threads/threads.module';
import { CommandsService } from './commands.service';
import { EventProtocolController } from './event-protocol.controller';
import { ThreadEventsService } from './thread-events.service';
import { ThreadSocketsService } from './thread-sockets.service';

@Module({
  imports: [AuthModule, CustomAuthModule, ServerModule, RunsModule, ThreadsModule, EventReadingModule],
  controllers: [EventProtocolController],
  providers: [CommandsService, ThreadEventsService, ThreadSocketsService],
})
export class EventProtocolModule {}
