import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AppConfig } from '../config/config';
import { MetricsModule } from '../metrics/metrics.module';
import { dataSourceOptions } from './data-source';
import { DatabaseMetrics } from './database.metrics';
import { Notifications } from './notifications';
import { connectionNameOf, ProcessId, ProcessIdModule } from './process-id';

@Module({
  imports: [
    MetricsModule,
    ProcessIdModule,
    TypeOrmModule.forRootAsync({
      imports: [ProcessIdModule],
      inject: [AppConfig, ProcessId],
      useFactory: (config: AppConfig, processId: ProcessId) => ({
        ...dataSourceOptions(
          config.database.url,
          config.database.poolSize,
          config.database.requestsUrl,
          config.database.statementTimeouts,
        ),
        applicationName: connectionNameOf(processId.value),
        autoLoadEntities: true,
        retryAttempts: 10,
        retryDelay: 1000,
      }),
    }),
  ],
  providers: [DatabaseMetrics, Notifications],
  exports: [DatabaseMetrics, Notifications, ProcessIdModule],
})
export class DatabaseModule {}
