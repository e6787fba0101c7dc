import { Injectable } from '@nestjs/common';
import { GraphRegistry } from '../graphs/graph-registry';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { ThreadExpiryOrchestrator } from '../temporal/thread-expiry-orchestrator';
import { ThreadExpiryRepository } from './thread-expiry.repository';

/** Makes the Schedule that searches for expired threads as soon as a thread can expire. */
@Injectable()
@Sweeps(50)
export class ThreadExpiryScheduleSweep implements Sweep {
  readonly name = 'thread-expiry-schedule';
  private isScheduled = false;

  constructor(
    private readonly expiry: ThreadExpiryRepository,
    private readonly registry: GraphRegistry,
    private readonly orchestrator: ThreadExpiryOrchestrator,
  ) {}

  async sweep(): Promise<void> {
    if (this.isScheduled) return;
    const { default: ttl, sweepIntervalMinutes, sweepLimit } = this.registry.threadTtl;
    if (!ttl && !(await this.expiry.anyExpires())) return;
    await this.orchestrator.schedule(sweepIntervalMinutes, sweepLimit);
    this.isScheduled = true;
  }
}
