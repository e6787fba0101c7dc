import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/config';
import { invalidField } from '../http/api-error';

/** How much a tenant may ask for at once, so that it doesn't fill the queue that it shares with the others. */
@Injectable()
export class RunLimits {
  constructor(private readonly config: AppConfig) {}

  /** Runs of a tenant that may wait, those that are not due yet too. */
  get pending(): number {
    return this.config.runs.pendingPerTenant;
  }

  /** @throws {ApiError} 422 for a batch of more runs than one request may make */
  checkBatch(size: number): void {
    const { batchLimit } = this.config.runs;
    if (size > batchLimit) {
      throw invalidField('', `must have ${batchLimit} runs or fewer (GANTRY_RUN_BATCH_LIMIT), not ${size}`);
    }
  }
}
