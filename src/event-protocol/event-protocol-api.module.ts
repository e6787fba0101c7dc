import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { ServerModule } from '../server/server.module';
import { RunsApiModule } from '../runs/runs-api.module';
import { RunsModule } from '../runs/runs.module';
import { StreamsApiModule } from '../streams/streams-api.module';
import { ThreadsModule } from '../threads/threads.module';
import { CommandsService } from './commands.service';
import { EventProtocolController } from './event-protocol.controller';
import { ThreadEventsService } from './thread-events.service';
import { ThreadSocketsService } from './thread-sockets.service';

@Module({
  imports: [AuthModule, CustomAuthModule, ServerModule, RunsApiModule, RunsModule, ThreadsModule, StreamsApiModule],
  controllers: [EventProtocolController],
  providers: [CommandsService, ThreadEventsService, ThreadSocketsService],
})
export class EventProtocolApiModule {}
