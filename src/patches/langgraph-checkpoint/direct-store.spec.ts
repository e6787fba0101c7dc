import * as library from '@langchain/langgraph-checkpoint';
import { expectLibrary } from '../../../test/support/library-guard';
import { connectStoreDirectly } from './direct-store';

class DirectStore extends library.InMemoryStore {
  calls: unknown[][] = [];

  override async put(...args: Parameters<library.InMemoryStore['put']>): Promise<void> {
    this.calls.push(args);
  }
}

describe('AsyncBatchedStore', () => {
  it('still needs the patch', () => {
    const { put, get, search, delete: remove, start } = library.AsyncBatchedStore.prototype;
    expectLibrary(
      [put, get, search, remove, start].every((method) => typeof method === 'function'),
      'AsyncBatchedStore has lost a method that the patch replaces.',
    );
    expectLibrary(
      put.length === 3,
      'AsyncBatchedStore.put takes more than three arguments: it may pass `index` on by itself.',
    );
  });

  it('passes calls to a direct store unbatched, and to other stores in batches', async () => {
    connectStoreDirectly(library, DirectStore);
    const direct = new DirectStore();
    const batched = new library.AsyncBatchedStore(direct);
    void batched.start();
    expect(batched.isRunning).toBe(false);
    const put = batched.put.bind(batched) as library.InMemoryStore['put'];
    await put(['a'], 'key', { n: 1 }, ['n']);
    expect(direct.calls).toEqual([[['a'], 'key', { n: 1 }, ['n']]]);

    const other = new library.AsyncBatchedStore(new library.InMemoryStore());
    void other.start();
    expect(other.isRunning).toBe(true);
    await other.put(['a'], 'key', { n: 2 });
    expect((await other.get(['a'], 'key'))?.value).toEqual({ n: 2 });
    await other.stop();
  });
});
