import { Injectable } from '@nestjs/common';
import { GraphRegistry } from '../graphs/graph-registry';
import { type Sweep, Sweeps } from '../sweeps/sweep';
import { StoreRepository } from '../item-store/store.repository';

/** Items that one statement deletes: enough to keep up, few enough to hold no lock for long. */
const BATCH = 1000;
/** Batches of one round: a backlog must not keep the other sweeps waiting. */
const MAX_BATCHES = 20;

/** Removes the items of the store whose time is over. Readers don't see them any more by then: this is for the space. */
@Injectable()
@Sweeps(60)
export class StoreExpirySweep implements Sweep {
  readonly name = 'store-expiry';
  private readonly intervalMs: number;
  private nextAt = 0;

  constructor(
    private readonly items: StoreRepository,
    registry: GraphRegistry,
  ) {
    this.intervalMs = (registry.config.store.sweepIntervalMinutes ?? 0) * 60_000;
  }

  async sweep(): Promise<void> {
    if (performance.now() < this.nextAt) return;
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      if ((await this.items.deleteExpired(BATCH)) < BATCH) {
        this.nextAt = performance.now() + this.intervalMs;
        return;
      }
    }
  }
}
