import { useSyncExternalStore } from 'react';

/** A value outside of React to which components subscribe. */
export class ExternalStore<Value> {
  private readonly listeners = new Set<() => void>();

  constructor(private value: Value) {}

  get = (): Value => this.value;

  set = (value: Value): void => {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const listener of [...this.listeners]) listener();
  };

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

export function useStore<Value>(store: ExternalStore<Value>): Value {
  return useSyncExternalStore(store.subscribe, store.get);
}
