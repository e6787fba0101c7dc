import { DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { AssistantsModule } from './assistants/assistants.module';
import { AssistantRemovalModule } from './assistants/removal/assistant-removal.module';
import { AuthModule } from './auth/auth.module';
import { AppConfig } from './config/config';
import { ConfigModule } from './config/config.module';
import { CronsModule } from './crons/crons.module';
import { DatabaseModule } from './database/database.module';
import { readGraphConfig } from './graphs/graph-config';
import { ExportsModule } from './exports/exports.module';
import { ErrorFilter } from './http/error.filter';
import { RequestValidationPipe } from './http/validation.pipe';
import { McpModule } from './mcp/mcp.module';
import { RunsModule } from './runs/runs.module';
import { StoreModule } from './store/store.module';
import { SystemModule } from './system/system.module';
import { ThreadsModule } from './threads/threads.module';
import { TracesModule } from './traces/traces.module';
import { WebhooksApiModule } from './webhooks/webhooks-api.module';

/** The api process. */
@Module({})
export class AppModule {
  static forRoot(config: AppConfig): DynamicModule {
    const { http } = readGraphConfig(config.graphConfigPath);
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule,
        AuthModule,
        SystemModule,
        AssistantsModule,
        ThreadsModule,
        StoreModule,
        RunsModule,
        AssistantRemovalModule,
        CronsModule,
        ExportsModule,
        TracesModule,
        WebhooksApiModule,
        ...(http.disableMcp ? [] : [McpModule]),
      ],
      providers: [
        { provide: APP_FILTER, useClass: ErrorFilter },
        { provide: APP_PIPE, useClass: RequestValidationPipe },
      ],
    };
  }
}
