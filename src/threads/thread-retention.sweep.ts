import { Injectable } from '@nestjs/common';
import type { Sweep } from '../sweeps/sweep';
import { ThreadsRepository } from './threads.repository';

/** Threads that one statement deletes: enough to keep up, few enough to hold no lock for long. */
const BATCH = 100;
/** Batches of one round: a backlog must not keep the other sweeps waiting. */
const MAX_BATCHES = 20;

/** Deletes threads whose time is over, with their runs and checkpoints: those of stateless runs above all. */
@Injectable()
export class ThreadRetentionSweep implements Sweep {
  readonly name = 'thread-retention';

  constructor(private readonly threads: ThreadsRepository) {}

  async sweep(): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      if ((await this.threads.deleteExpired(BATCH)) < BATCH) return;
    }
  }
}
