import { Injectable } from '@nestjs/common';
import { CronExecutor } from '../src/crons/cron-executor';
import type { CronActivities } from '../workflows/contracts/cron.contract';
import { whileBeating } from './heartbeat';

/** A third of the workflow's heartbeat timeout. */
const HEARTBEAT_MS = 3_000;

/** The activities of crons, as Temporal's worker takes them. */
@Injectable()
export class CronActivityProvider {
  constructor(private readonly firing: CronExecutor) {}

  activities(): CronActivities {
    return { fireCron: (input) => whileBeating(HEARTBEAT_MS, () => this.firing.fire(input)) };
  }
}
