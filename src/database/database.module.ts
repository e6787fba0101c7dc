import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AppConfig } from '../config/config';
import { MetricsModule } from '../metrics/metrics.module';
import { dataSourceOptions } from './data-source';
import { DatabaseMetrics } from './database.metrics';
import { Notifications } from './notifications';

@Module({
  imports: [
    MetricsModule,
    TypeOrmModule.forRootAsync({
      inject: [AppConfig],
      useFactory: (config: AppConfig) => ({
        ...dataSourceOptions(
          config.database.url,
          config.database.poolSize,
          config.database.requestsUrl,
          config.database.statementTimeouts,
        ),
        autoLoadEntities: true,
        retryAttempts: 10,
        retryDelay: 1000,
      }),
    }),
  ],
  providers: [DatabaseMetrics, Notifications],
  exports: [DatabaseMetrics, Notifications],
})
export class DatabaseModule {}
