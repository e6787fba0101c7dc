import { DynamicModule, Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { TenantsModule } from '../auth/tenants.module';
import { AppConfig } from '../config/config';
import { ConfigModule } from '../config/config.module';
import { CryptoModule } from '../crypto/crypto.module';
import { DatabaseModule } from '../database/database.module';
import { ExportsModule } from '../exports/exports.module';
import { RunExplanationModule } from '../runs/explanation/run-explanation.module';

/** Services for the operator's command line: the database and, to explain runs, Temporal; no HTTP and no graphs. */
@Module({})
export class CliModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: CliModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule,
        AuditModule,
        CryptoModule,
        ExportsModule,
        RunExplanationModule,
        TenantsModule,
      ],
    };
  }
}
