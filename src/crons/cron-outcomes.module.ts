import { Module } from '@nestjs/common';
import { CronOutcomes } from './cron-outcomes';

/** What crons learn of runs, threads and assistants, in both processes. */
@Module({ providers: [CronOutcomes] })
export class CronOutcomesModule {}
