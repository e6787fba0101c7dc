import * as library from '@langchain/langgraph-checkpoint';
import { expectLibrary } from '../../../test/support/library-guard';
import { closeSerializer } from './closed-serializers';

describe("the library's serializer", () => {
  it('is one class for savers and caches, whose methods can be replaced', async () => {
    const { serde } = new library.MemorySaver();
    const shared = Object.getPrototypeOf(serde) as object;
    expectLibrary(
      ['dumpsTyped', 'loadsTyped'].every((name) => Object.hasOwn(shared, name)),
      'The serializer of MemorySaver no longer has dumpsTyped and loadsTyped on its prototype: replacing them closes nothing.',
    );
    expectLibrary(
      Object.getPrototypeOf(new library.InMemoryCache().serde) === shared,
      'InMemoryCache has another serializer than MemorySaver: it is not closed.',
    );
    const ours: library.SerializerProtocol = {
      dumpsTyped: async () => ['json', new TextEncoder().encode('"ours"')],
      loadsTyped: async () => 'ours',
    };
    closeSerializer(library, () => ours);
    expect(await serde.loadsTyped('json', '{}')).toBe('ours');
    expect(await new library.InMemoryCache().serde.loadsTyped('json', '{}')).toBe('ours');
  });
});
