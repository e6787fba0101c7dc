import { DiscoveryService } from '@nestjs/core';

/**
 * Finds rows whose intent has no running workflow (a process died between the commit and the start) and starts it. Must be
 * cheap when there is nothing to do, and harmless when repeated. One that pauses measures by `performance.now()`: with a clock
 * that is set back it would pause for as long again.
 */
export interface Sweep {
  readonly name: string;
  sweep(): Promise<void>;
}

/** Registers a provider as a {@link Sweep} of the worker, at a place in the order in which all are called. */
export const Sweeps = DiscoveryService.createDecorator<number>();
