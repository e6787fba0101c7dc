import { DynamicModule, Module } from '@nestjs/common';
import { A2aApiModule } from './a2a/a2a-api.module';
import { AssistantsApiModule } from './assistants/assistants-api.module';
import { AssistantRemovalApiModule } from './assistant-removal/assistant-removal-api.module';
import { AuditApiModule } from './audit/audit-api.module';
import { AuthApiModule } from './auth/auth-api.module';
import { AppConfig } from './config/config';
import { ConfigModule } from './config/config.module';
import { CronsApiModule } from './crons/crons-api.module';
import { DatabaseModule } from './database/database.module';
import { EncryptionModule } from './encryption/encryption.module';
import { EventProtocolApiModule } from './event-protocol/event-protocol-api.module';
import { ExportsApiModule } from './exports/exports-api.module';
import { GraphsModule } from './graphs/graphs.module';
import { ServerModule } from './server/server.module';
import { McpApiModule } from './mcp/mcp-api.module';
import { RunsApiModule } from './runs/runs-api.module';
import { StoreApiModule } from './store/store-api.module';
import { SystemApiModule } from './system/system-api.module';
import { ThreadsApiModule } from './threads/threads-api.module';
import { TruncationApiModule } from './truncation/truncation-api.module';
import { TracesApiModule } from './traces/traces-api.module';
import { UiApiModule } from './ui/ui-api.module';
import { WebhooksApiModule } from './webhooks/webhooks-api.module';

/** The api process. */
@Module({})
export class AppModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        GraphsModule.forRoot('inspect'),
        ServerModule,
        DatabaseModule,
        EncryptionModule,
        AuthApiModule,
        AuditApiModule,
        SystemApiModule,
        AssistantsApiModule,
        ThreadsApiModule,
        StoreApiModule,
        RunsApiModule,
        EventProtocolApiModule,
        AssistantRemovalApiModule,
        CronsApiModule,
        ExportsApiModule,
        TracesApiModule,
        WebhooksApiModule,
        A2aApiModule,
        McpApiModule,
        UiApiModule,
        ...(config.http.isForTests ? [TruncationApiModule] : []),
      ],
    };
  }
}
