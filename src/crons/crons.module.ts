import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EntitlementsModule } from '../auth/entitlements.module';
import { CryptoModule } from '../crypto/crypto.module';
import { RunsModule } from '../runs/runs.module';
import { TemporalModule } from '../temporal/temporal.module';
import { CronExecutor } from './cron-executor';
import { CronFireEntity } from './cron-fire.entity';
import { CronFiresRepository } from './cron-fires.repository';
import { CronOutcomes } from './cron-outcomes';
import { CronRuns } from './cron-runs';
import { CronSchedulesService } from './cron-schedules.service';
import { CronEntity } from './cron.entity';
import { CronMetrics } from './cron.metrics';
import { CronsRepository } from './crons.repository';

/** Crons as records, their ticks, and their listeners for runs, threads and assistants: in both processes. */
@Module({
  imports: [
    TypeOrmModule.forFeature([CronEntity, CronFireEntity]),
    CryptoModule,
    EntitlementsModule,
    RunsModule,
    TemporalModule,
  ],
  providers: [
    CronExecutor,
    CronFiresRepository,
    CronMetrics,
    CronOutcomes,
    CronRuns,
    CronSchedulesService,
    CronsRepository,
  ],
  exports: [CronExecutor, CronFiresRepository, CronSchedulesService, CronsRepository],
})
export class CronsModule {}
