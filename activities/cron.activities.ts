import { Injectable } from '@nestjs/common';
import { CronExecutor } from '../src/crons/cron-executor';
import type { CronActivities } from '../workflows/contracts/cron.contract';
import { CRONS_QUEUE } from '../workflows/contracts/queues';
import { Activities, type ActivityProvider } from './activities';
import { whileBeating } from './heartbeat';

/** A third of the workflow's heartbeat timeout. */
const HEARTBEAT_MS = 3_000;

/** The activities of crons, as Temporal's worker takes them. */
@Injectable()
@Activities([CRONS_QUEUE])
export class CronActivityProvider implements ActivityProvider {
  constructor(private readonly executor: CronExecutor) {}

  activities(): CronActivities {
    return { fireCron: (input) => whileBeating(HEARTBEAT_MS, () => this.executor.fire(input)) };
  }
}
