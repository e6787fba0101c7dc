import type { OnModuleInit } from '@nestjs/common';
import { type DiscoverableDecorator, DiscoveryService } from '@nestjs/core';

/**
 * The application's providers that carry a decorator, by the place in the order that each gives. A class that several
 * modules provide counts once.
 */
export function orderedProviders<T>(discovery: DiscoveryService, decorator: DiscoverableDecorator<number>): T[] {
  const wrappers = discovery.getProviders({ metadataKey: decorator.KEY });
  const byClass = new Map(wrappers.map((wrapper) => [wrapper.metatype, wrapper]));
  const place = (wrapper: (typeof wrappers)[number]): number =>
    discovery.getMetadataByDecorator(decorator, wrapper) ?? 0;
  return [...byClass.values()].sort((a, b) => place(a) - place(b)).map(({ instance }) => instance as T);
}

/** The providers that carry a decorator, found when the application starts; see {@link orderedProviders}. */
export abstract class DiscoveredProviders<T> implements OnModuleInit {
  protected providers: T[] = [];

  protected constructor(
    private readonly discovery: DiscoveryService,
    private readonly decorator: DiscoverableDecorator<number>,
  ) {}

  onModuleInit(): void {
    this.providers = orderedProviders<T>(this.discovery, this.decorator);
  }
}
