import { z } from 'zod';
import { tooManyElements } from './list-limit';

const MAX = 20_000;
const list = (length: number, element: unknown = 0): unknown[] => new Array<unknown>(length).fill(element);

interface Tree {
  children?: Tree[] | undefined;
}
const tree: z.ZodType<Tree> = z.lazy(() => z.object({ children: z.array(tree).optional() }));

describe('a limit of the elements that are checked', () => {
  const ids = z.array(z.guid());

  it.each<[string, z.ZodType, (count: number) => unknown]>([
    ['a list', ids, list],
    ['a field', z.object({ ids }), (count) => ({ ids: list(count) })],
    [
      'an optional field with a default',
      z.object({ ids: ids.nullable().default([]) }),
      (count) => ({ ids: list(count) }),
    ],
    ['several fields', z.object({ a: ids, b: ids }), (count) => ({ a: list(count - 1), b: list(1) })],
    ['lists in a list', z.array(z.array(z.number())), (count) => [...list(count / 100 - 1, list(99)), list(99)]],
    ['a record', z.record(z.string(), z.guid()), (count) => Object.fromEntries(list(count).map((_, n) => [n, 0]))],
    ['a union', z.union([z.string(), ids]), list],
    ['a refined and transformed list', ids.refine(() => true).transform((given) => given), list],
    ['what a list is made of', z.preprocess((given) => given, ids), list],
    [
      'an intersection',
      z.intersection(z.object({ a: z.string() }), z.object({ ids })),
      (count) => ({ ids: list(count) }),
    ],
    ['a schema that contains itself', tree, (count) => ({ children: [...list(count / 2, { children: [{}] })] })],
  ])('holds for %s', (_, schema, of) => {
    expect(tooManyElements(schema, of(MAX))).toBeUndefined();
    expect(tooManyElements(schema, of(MAX + 100))).toBe('The lists of a request have at most 20000 elements together');
  });

  it('does not hold where anything may be an element, nor for what is no list', () => {
    const schema = z.object({ input: z.unknown(), any: z.array(z.unknown()), ids: ids.optional() });
    expect(tooManyElements(schema, { input: list(100_000), any: list(100_000) })).toBeUndefined();
    for (const value of [null, 'text', list(100_000), { ids: 'text' }, { ids: { length: 100_000 } }]) {
      expect(tooManyElements(schema, value)).toBeUndefined();
    }
    expect(tooManyElements(undefined, list(100_000))).toBeUndefined();
  });
});
