import { Injectable } from '@nestjs/common';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { ThreadExpiryRepository } from './thread-expiry.repository';

/** Threads that one statement deletes: enough to keep up, few enough to hold no lock for long. */
const BATCH = 100;
/** Batches of one round: a backlog must not keep the other sweeps waiting. */
const MAX_BATCHES = 20;

/** Deletes the threads of ended stateless runs, with their runs and checkpoints. */
@Injectable()
@Sweeps(40)
export class ThreadRetentionSweep implements Sweep {
  readonly name = 'thread-retention';

  constructor(private readonly threads: ThreadExpiryRepository) {}

  async sweep(): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      if ((await this.threads.deleteForgotten(BATCH)) < BATCH) return;
    }
  }
}
