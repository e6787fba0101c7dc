import { DiscoveryService } from '@nestjs/core';

/** A provider of activities, by the names under which workflows call them. */
export interface ActivityProvider {
  activities(): object;
}

/** Registers a provider as an {@link ActivityProvider} of the workers that poll these task queues. */
export const Activities = DiscoveryService.createDecorator<string[]>();

/** The activities of a task queue, of all providers that serve it. */
export function activitiesOf(discovery: DiscoveryService, taskQueue: string): object {
  const providers = discovery
    .getProviders({ metadataKey: Activities.KEY })
    .filter((wrapper) => discovery.getMetadataByDecorator(Activities, wrapper)?.includes(taskQueue))
    .map(({ instance }) => (instance as ActivityProvider).activities());
  return Object.assign({}, ...providers) as object;
}
