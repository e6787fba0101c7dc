import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { EntityManager } from 'typeorm';
import { DiscoveredProviders } from '../discovery/ordered-providers';
import type { ThreadKey } from './thread-key';

/** A feature that follows threads. */
export interface ThreadListener {
  /** Threads are about to be deleted, by a request or by their expiry: called inside the transaction that does it, with their locks. */
  beforeDeletion?(manager: EntityManager, threads: ThreadKey[]): Promise<void>;
  /** Threads were deleted, inside the same transaction. */
  threadsDeleted?(manager: EntityManager, threads: ThreadKey[]): Promise<void>;
}

/** Registers a provider as a {@link ThreadListener}, at a place in the order in which all are called. */
export const ListensToThreads = DiscoveryService.createDecorator<number>();

/** All listeners of the application, called one after the other. */
@Injectable()
export class ThreadListeners extends DiscoveredProviders<ThreadListener> implements Required<ThreadListener> {
  constructor(discovery: DiscoveryService) {
    super(discovery, ListensToThreads);
  }

  async beforeDeletion(manager: EntityManager, threads: ThreadKey[]): Promise<void> {
    for (const listener of this.providers) await listener.beforeDeletion?.(manager, threads);
  }

  async threadsDeleted(manager: EntityManager, threads: ThreadKey[]): Promise<void> {
    for (const listener of this.providers) await listener.threadsDeleted?.(manager, threads);
  }
}
