import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit } from '@temporalio/worker';
import type { RunSlots } from '../src/runs/run-slots';

/**
 * Polls for activities of runs only while there is a free slot; runs that began as local activities use the same slots. A poll
 * holds its slot while it waits.
 */
export class RunSlotSupplier implements CustomSlotSupplier<ActivitySlotInfo> {
  readonly type = 'custom';

  constructor(private readonly slots: RunSlots) {}

  async reserveSlot(_context: unknown, signal: AbortSignal): Promise<SlotPermit> {
    await this.slots.take(signal);
    return {};
  }

  tryReserveSlot(): SlotPermit | null {
    return this.slots.tryTake() ? {} : null;
  }

  markSlotUsed(): void {
    // A slot counts from its reservation on.
  }

  releaseSlot(): void {
    this.slots.release();
  }
}
