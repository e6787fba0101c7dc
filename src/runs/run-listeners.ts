import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { EntityManager } from 'typeorm';
import { inEncryptionContext } from '../database/at-rest';
import { DiscoveredProviders } from '../discovery/ordered-providers';
import type { DeliveryReference } from '../temporal/webhook-orchestrator';
import { deletedEnding, type RunEnding } from './run-ending';
import type { RunEntity } from './run.entity';

/**
 * A feature that follows runs. Its methods are called inside the transaction that changes the run, so that what they write
 * is committed with it; what they throw undoes it. Each resolves to the deliveries that it stored, which are started after
 * the commit.
 */
export interface RunListener {
  /** A run was inserted, by a request that isn't the feature's own, on a thread that was interrupted. */
  createdOnInterrupted?(manager: EntityManager, run: RunEntity): Promise<DeliveryReference[]>;
  /** Whether the feature follows this run. Decided by what a run has from its creation. */
  follows(run: RunEntity): boolean;
  /**
   * A run that the feature follows ended, in whichever way.
   * @param run the run as it is now; its row is gone after a rollback and a deletion
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

  async createdOnInterrupted(manager: EntityManager, run: RunEntity): Promise<DeliveryReference[]> {
    const stored: DeliveryReference[] = [];
    for (const listener of this.providers)
      stored.push(...((await listener.createdOnInterrupted?.(manager, run)) ?? []));
    return stored;
  }

  /** Whether any feature follows the run. */
  follow(run: RunEntity): boolean {
    return this.providers.some((listener) => listener.follows(run));
  }

  /** A run that hadn't ended is deleted: for its followers, that is its end. */
  deletedInFlight(manager: EntityManager, run: RunEntity): Promise<DeliveryReference[]> {
    const endedAt = new Date();
    const ended = { ...run, status: 'interrupted' as const, endedAt, updatedAt: endedAt };
    return inEncryptionContext(run.kwargs.encryption_context, () =>
      this.ended(manager, ended, deletedEnding(undefined)),
    );
  }

  async ended(manager: EntityManager, run: RunEntity, ending: RunEnding): Promise<DeliveryReference[]> {
    const stored: DeliveryReference[] = [];
    for (const listener of this.providers) {
      if (listener.follows(run)) stored.push(...(await listener.ended(manager, run, ending)));
    }
    return stored;
  }
}
