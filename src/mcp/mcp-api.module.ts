import { Module } from '@nestjs/common';
import { AssistantsModule } from '../assistants/assistants.module';
import { DatabaseModule } from '../database/database.module';
import { RunsApiModule } from '../runs/runs-api.module';
import { RunsModule } from '../runs/runs.module';
import { StoreModule } from '../store/store.module';
import { StreamsModule } from '../streams/streams.module';
import { ThreadsModule } from '../threads/threads.module';
import { McpCallsService } from './mcp-calls.service';
import { McpController } from './mcp.controller';
import { McpMetrics } from './mcp.metrics';
import { McpEndpoint } from './mcp-endpoint.service';
import { McpServerFactory } from './mcp-server.factory';
import { McpPromptsService } from './mcp-prompts.service';
import { McpResourcesService } from './mcp-resources.service';
import { McpSessionBus } from './mcp-session-bus';
import { McpRunsService } from './mcp-runs.service';
import { McpTasksRepository } from './tasks/mcp-tasks.repository';
import { McpTasksService } from './tasks/mcp-tasks.service';
import { McpToolsService } from './mcp-tools.service';

@Module({
  imports: [DatabaseModule, AssistantsModule, ThreadsModule, RunsApiModule, RunsModule, StoreModule, StreamsModule],
  controllers: [McpController],
  providers: [
    McpEndpoint,
    McpServerFactory,
    McpSessionBus,
    McpToolsService,
    McpPromptsService,
    McpResourcesService,
    McpCallsService,
    McpRunsService,
    McpTasksRepository,
    McpTasksService,
    McpMetrics,
  ],
})
export class McpApiModule {}
