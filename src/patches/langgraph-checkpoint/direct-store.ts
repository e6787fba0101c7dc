/**
 * @library @langchain/langgraph-checkpoint 1.2.2
 * @patch Replaces the operations on the prototype of `AsyncBatchedStore`, in each copy of the library that graphs use.
 * @why Around every store the class looks a thousand times a second for operations to pass on, forgets the `index` of a put,
 * lacks `listNamespaces`, and fails every operation of a millisecond with the first of them that fails.
 * @upstream None known.
 * @remove When the class passes all arguments on, has `listNamespaces`, and wakes only for operations.
 */

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
 * Lets nodes reach the stores of one class directly: LangGraph gives them their store inside an AsyncBatchedStore, which
 * around such a store passes each call straight on. Around any other store it stays what it is.
 * @param exports what one build of the library exports
 * @param direct class of the stores that are reached directly
 */
export function connectStoreDirectly(exports: Record<string, unknown>, direct: new (...args: never[]) => object): void {
  const { AsyncBatchedStore } = exports as Exports;
  if (AsyncBatchedStore) connect(AsyncBatchedStore.prototype, direct);
}

function connect(batched: BatchedStore, direct: new (...args: never[]) => object): void {
  if (connected.has(batched)) return;
  connected.add(batched);
  for (const name of OPERATIONS) {
    const original = batched[name];
    batched[name] = function (this: BatchedStore, ...args: unknown[]) {
      const { store } = this;
      return store instanceof direct ? (store as BatchedStore)[name].apply(store, args) : original.apply(this, args);
    };
  }
  const { start } = batched;
  batched.start = function (this: BatchedStore) {
    if (!(this.store instanceof direct)) start.apply(this);
  };
}
