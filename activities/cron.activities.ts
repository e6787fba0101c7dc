import { Injectable } from '@nestjs/common';
import { CronFiringService } from '../src/crons/cron-firing.service';
import type { CronActivities } from '../workflows/contracts/cron.contract';
import { whileBeating } from './heartbeat';

/** A third of the workflow's heartbeat timeout. */
const HEARTBEAT_MS = 3_000;

/** The activities of crons, as Temporal's worker takes them. */
@Injectable()
export class CronActivityProvider {
  constructor(private readonly firing: CronFiringService) {}

  activities(): CronActivities {
    return { fireCron: (input) => whileBeating(HEARTBEAT_MS, () => this.firing.fire(input)) };
  }
}
