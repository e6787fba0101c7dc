import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { EntityManager } from 'typeorm';
import { DiscoveredProviders } from '../discovery/ordered-providers';

/** A feature that follows assistants. */
export interface AssistantListener {
  /** An assistant was deleted: called inside the transaction that does it. */
  assistantDeleted(manager: EntityManager, tenantId: string, assistantId: string): Promise<void>;
}

/** Registers a provider as an {@link AssistantListener}, at a place in the order in which all are called. */
export const ListensToAssistants = DiscoveryService.createDecorator<number>();

/** All listeners of the application, called one after the other. */
@Injectable()
export class AssistantListeners extends DiscoveredProviders<AssistantListener> implements AssistantListener {
  constructor(discovery: DiscoveryService) {
    super(discovery, ListensToAssistants);
  }

  async assistantDeleted(manager: EntityManager, tenantId: string, assistantId: string): Promise<void> {
    for (const listener of this.providers) await listener.assistantDeleted(manager, tenantId, assistantId);
  }
}
