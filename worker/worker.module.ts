import { DynamicModule, Module } from '@nestjs/common';
import { RunActivityProvider } from '../activities/run.activities';
import { AppConfig } from '../src/config/config';
import { ConfigModule } from '../src/config/config.module';
import { DatabaseModule } from '../src/database/database.module';
import { RunExecutionModule } from '../src/runs/run-execution.module';

/** The worker process: services and activities, no HTTP. */
@Module({})
export class WorkerModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: WorkerModule,
      imports: [ConfigModule.forRoot(config), DatabaseModule, RunExecutionModule],
      providers: [RunActivityProvider],
    };
  }
}
