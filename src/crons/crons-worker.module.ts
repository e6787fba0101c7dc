import { Module } from '@nestjs/common';
import { TemporalModule } from '../temporal/temporal.module';
import { CronSweep } from './cron-sweep';
import { CronsModule } from './crons.module';

/** The worker's half: Schedules that differ from their crons, and ticks that were missed. */
@Module({ imports: [CronsModule, TemporalModule], providers: [CronSweep], exports: [CronsModule] })
export class CronsWorkerModule {}
