import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { EntityManager } from 'typeorm';
import { DiscoveredProviders } from '../discovery/ordered-providers';
import type { DeliveryReference } from '../temporal/webhook-orchestrator';
import type { ThreadEntity } from '../threads/thread.entity';
import type { RunEnding } from './run-ending';
import type { RunEntity } from './run.entity';

/**
 * A feature that follows runs. Its methods are called inside the transaction that changes the run, so that what they write
 * is committed with it; what they throw undoes it. Each resolves to the deliveries that it stored, which are started after
 * the commit.
 */
export interface RunListener {
  /**
   * A run was inserted by a request that isn't the feature's own.
   * @param thread the run's thread as it was before
   */
  created?(manager: EntityManager, run: RunEntity, thread: ThreadEntity): Promise<DeliveryReference[]>;
  /**
   * A run ended, in whichever way.
   * @param run the run as it is now; its row is gone after a rollback
   */
  ended(manager: EntityManager, run: RunEntity, ending: RunEnding): Promise<DeliveryReference[]>;
}

/** Registers a provider as a {@link RunListener}, at a place in the order in which all are called. */
export const ListensToRuns = DiscoveryService.createDecorator<number>();

/** All listeners of the application, called one after the other. */
@Injectable()
export class RunListeners extends DiscoveredProviders<RunListener> {
  constructor(discovery: DiscoveryService) {
    super(discovery, ListensToRuns);
  }

  async created(manager: EntityManager, run: RunEntity, thread: ThreadEntity): Promise<DeliveryReference[]> {
    const stored: DeliveryReference[] = [];
    for (const listener of this.providers) stored.push(...((await listener.created?.(manager, run, thread)) ?? []));
    return stored;
  }

  async ended(manager: EntityManager, run: RunEntity, ending: RunEnding): Promise<DeliveryReference[]> {
    const stored: DeliveryReference[] = [];
    for (const listener of this.providers) stored.push(...(await listener.ended(manager, run, ending)));
    return stored;
  }
}
