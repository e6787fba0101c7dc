import { pathToFileURL } from 'node:url';
import { esmBuildOf, resolveFrom } from './project-libraries';
import { RunStore } from './run-store';

const LIBRARY = '@langchain/langgraph-checkpoint';
const OPERATIONS = ['get', 'search', 'put', 'delete', 'listNamespaces'] as const;

type Operation = (...args: unknown[]) => unknown;

interface BatchedStore extends Record<(typeof OPERATIONS)[number], Operation> {
  store: unknown;
  start: Operation;
}

interface Library {
  AsyncBatchedStore?: { prototype: BatchedStore };
}

const connected = new WeakSet<BatchedStore>();

/**
 * LangGraph gives nodes their store inside an AsyncBatchedStore, which for as long as the run lasts looks a thousand times a
 * second for operations to pass on, forgets the `index` of a put, doesn't know `listNamespaces`, and fails every operation
 * of a millisecond with the first of them that fails (langgraph-checkpoint 1.1.5; can go when that is mended). Around our
 * store it passes each call straight on instead; around any other it stays what it is.
 * @param graphFiles for the copies of the library that the graphs' own projects may bring
 */
export async function connectStoreDirectly(graphFiles: string[]): Promise<void> {
  for (const copy of librariesOf([__filename, ...graphFiles])) {
    const { AsyncBatchedStore } = (await import(copy)) as Library;
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

/** Both builds of each copy: CommonJS and ES modules have classes of their own. */
function librariesOf(files: string[]): Set<string> {
  const builds = new Set<string>();
  for (const file of files) {
    const graphs = resolveFrom(file, '@langchain/langgraph');
    const library = resolveFrom(file, LIBRARY) ?? (graphs && resolveFrom(graphs, LIBRARY));
    if (!library) continue;
    const esm = esmBuildOf(library);
    builds.add(pathToFileURL(library).href);
    if (esm) builds.add(esm);
  }
  return builds;
}
