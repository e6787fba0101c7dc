import { Injectable } from '@nestjs/common';
import { cancellationSignal } from '@temporalio/activity';
import { ThreadExpiryService } from '../src/threads/thread-expiry.service';
import type { ThreadExpiryActivities } from '../workflows/contracts/thread-expiry.contract';
import { whileBeating } from './heartbeat';

/** A third of the workflow's heartbeat timeout. */
const HEARTBEAT_MS = 10_000;

@Injectable()
export class ThreadExpiryActivityProvider {
  constructor(private readonly expiry: ThreadExpiryService) {}

  activities(): ThreadExpiryActivities {
    return {
      expireThreads: ({ limit }) => whileBeating(HEARTBEAT_MS, () => this.expiry.expire(limit, cancellationSignal())),
    };
  }
}
