import { Injectable } from '@nestjs/common';
import { cancellationSignal } from '@temporalio/activity';
import { ThreadExpiryService } from '../src/threads/thread-expiry.service';
import { CRONS_QUEUE } from '../workflows/contracts/queues';
import type { ThreadExpiryActivities } from '../workflows/contracts/thread-expiry.contract';
import { Activities, type ActivityProvider } from './activities';
import { whileBeating } from './heartbeat';

/** A third of the workflow's heartbeat timeout. */
const HEARTBEAT_MS = 10_000;

@Injectable()
@Activities([CRONS_QUEUE])
export class ThreadExpiryActivityProvider implements ActivityProvider {
  constructor(private readonly expiry: ThreadExpiryService) {}

  activities(): ThreadExpiryActivities {
    return {
      expireThreads: ({ limit }) => whileBeating(HEARTBEAT_MS, () => this.expiry.expire(limit, cancellationSignal())),
    };
  }
}
