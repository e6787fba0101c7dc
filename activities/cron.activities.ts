import { Injectable } from '@nestjs/common';
import { heartbeat } from '@temporalio/activity';
import { CronFiringService } from '../src/crons/cron-firing.service';
import type { CronActivities, FireCronInput, FireCronResult } from '../workflows/contracts/cron.contract';

/** A third of the workflow's heartbeat timeout. */
const HEARTBEAT_MS = 3_000;

/** The activities of crons, as Temporal's worker takes them. */
@Injectable()
export class CronActivityProvider {
  constructor(private readonly firing: CronFiringService) {}

  activities(): CronActivities {
    return { fireCron: (input) => this.fireCron(input) };
  }

  private async fireCron(input: FireCronInput): Promise<FireCronResult> {
    const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
    try {
      return await this.firing.fire(input);
    } finally {
      clearInterval(beat);
    }
  }
}
