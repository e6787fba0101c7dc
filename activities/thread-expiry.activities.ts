import { Injectable } from '@nestjs/common';
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { ThreadExpiryService } from '../src/threads/thread-expiry.service';
import type {
  ThreadExpiryActivities,
  ThreadExpiryInput,
  ThreadExpiryResult,
} from '../workflows/contracts/thread-expiry.contract';

/** A third of the workflow's heartbeat timeout. */
const HEARTBEAT_MS = 10_000;

@Injectable()
export class ThreadExpiryActivityProvider {
  constructor(private readonly expiry: ThreadExpiryService) {}

  activities(): ThreadExpiryActivities {
    return { expireThreads: (input) => this.expireThreads(input) };
  }

  private async expireThreads({ limit }: ThreadExpiryInput): Promise<ThreadExpiryResult> {
    const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
    try {
      return await this.expiry.expire(limit, cancellationSignal());
    } finally {
      clearInterval(beat);
    }
  }
}
