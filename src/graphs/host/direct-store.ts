import type { CheckpointLibrary } from './project-libraries';
import { RunStore } from './run-store';

const OPERATIONS = ['get', 'search', 'put', 'delete', 'listNamespaces'] as const;

type Operation = (...args: unknown[]) => unknown;

interface BatchedStore extends Record<(typeof OPERATIONS)[number], Operation> {
  store: unknown;
  start: Operation;
}

interface Exports {
  AsyncBatchedStore?: { prototype: BatchedStore };
}

const connected = new WeakSet<BatchedStore>();

/**
 * LangGraph gives nodes their store inside an AsyncBatchedStore, which for as long as the run lasts looks a thousand times a
 * second for operations to pass on, forgets the `index` of a put, doesn't know `listNamespaces`, and fails every operation
 * of a millisecond with the first of them that fails (langgraph-checkpoint 1.2.2; can go when that is mended). Around our
 * store it passes each call straight on instead; around any other it stays what it is.
 */
export function connectStoreDirectly(libraries: CheckpointLibrary[]): void {
  for (const { exports } of libraries) {
    const { AsyncBatchedStore } = exports as Exports;
    if (AsyncBatchedStore) connect(AsyncBatchedStore.prototype);
  }
}

function connect(batched: BatchedStore): void {
  if (connected.has(batched)) return;
  connected.add(batched);
  for (const name of OPERATIONS) {
    const original = batched[name];
    batched[name] = function (this: BatchedStore, ...args: unknown[]) {
      return this.store instanceof RunStore
        ? (this.store[name] as Operation).apply(this.store, args)
        : original.apply(this, args);
    };
  }
  const { start } = batched;
  batched.start = function (this: BatchedStore) {
    if (!(this.store instanceof RunStore)) start.apply(this);
  };
}
