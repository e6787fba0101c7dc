import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AssistantsModule } from '../assistants/assistants.module';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { EntitlementsModule } from '../auth/entitlements.module';
import { CryptoModule } from '../crypto/crypto.module';
import { GraphsModule } from '../graphs/graphs.module';
import { RunsModule } from '../runs/runs.module';
import { TemporalModule } from '../temporal/temporal.module';
import { ThreadsModule } from '../threads/threads.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { CronEntity } from './cron.entity';
import { CronAccess } from './cron-access';
import { CronDefinition } from './cron-definition';
import { CronMetrics } from './cron.metrics';
import { CronRuns } from './cron-runs';
import { CronTicksService } from './cron-ticks.service';
import { CronFireEntity } from './cron-fire.entity';
import { CronFiresRepository } from './cron-fires.repository';
import { CronExecutor } from './cron-executor';
import { CronSchedulesService } from './cron-schedules.service';
import { CronsController } from './crons.controller';
import { CronsRepository } from './crons.repository';
import { CronsService } from './crons.service';

/** The api's half: crons as records, and runs by hand. */
@Module({
  imports: [
    TypeOrmModule.forFeature([CronEntity, CronFireEntity]),
    AssistantsModule,
    ThreadsModule,
    RunsModule,
    GraphsModule.for('inspect'),
    TemporalModule,
    WebhooksModule,
    CryptoModule,
    CustomAuthModule,
    EntitlementsModule,
  ],
  controllers: [CronsController],
  providers: [
    CronAccess,
    CronDefinition,
    CronRuns,
    CronTicksService,
    CronsRepository,
    CronFiresRepository,
    CronSchedulesService,
    CronExecutor,
    CronMetrics,
    CronsService,
  ],
})
export class CronsModule {}
