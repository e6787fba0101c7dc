import { DynamicModule, Module } from '@nestjs/common';
import { A2aModule } from './a2a/a2a.module';
import { AssistantsModule } from './assistants/assistants.module';
import { AssistantRemovalModule } from './assistant-removal/assistant-removal.module';
import { AuditApiModule } from './audit/audit.module';
import { AuthModule } from './auth/auth.module';
import { AppConfig } from './config/config';
import { ConfigModule } from './config/config.module';
import { CronOutcomesModule } from './crons/cron-outcomes.module';
import { CronsModule } from './crons/crons.module';
import { DatabaseModule } from './database/database.module';
import { EventProtocolModule } from './event-protocol/event-protocol.module';
import { ExportsModule } from './exports/exports.module';
import { ServerModule } from './server/server.module';
import { McpModule } from './mcp/mcp.module';
import { RunsModule } from './runs/runs.module';
import { StoreModule } from './store/store.module';
import { SystemModule } from './system/system.module';
import { ThreadsModule } from './threads/threads.module';
import { TruncationModule } from './truncation/truncation.module';
import { TracesModule } from './traces/traces.module';
import { UiModule } from './ui/ui.module';
import { WebhooksApiModule } from './webhooks/webhooks-api.module';

/** The api process. */
@Module({})
export class AppModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        ServerModule,
        DatabaseModule,
        AuthModule,
        AuditApiModule,
        SystemModule,
        AssistantsModule,
        ThreadsModule,
        StoreModule,
        RunsModule,
        EventProtocolModule,
        AssistantRemovalModule,
        CronsModule,
        CronOutcomesModule,
        ExportsModule,
        TracesModule,
        WebhooksApiModule,
        A2aModule,
        McpModule,
        UiModule,
        ...(config.http.isForTests ? [TruncationModule] : []),
      ],
    };
  }
}
