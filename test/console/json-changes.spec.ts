import { changesBetween } from '../../console/src/ui/json-changes';

const messages = (...numbers: number[]): object[] => numbers.map((n) => ({ id: `m${n}`, content: `Message ${n}` }));

describe('changes between two values', () => {
  it('are listed leaf by leaf, a new or removed branch as one', () => {
    expect(changesBetween({ a: 1, b: { c: 2, d: [1, 2] } }, { b: { c: 3, d: [1] }, e: { f: 4 } })).toEqual([
      { path: 'a', before: 1, after: undefined },
      { path: 'b.c', before: 2, after: 3 },
      { path: 'b.d.1', before: 2, after: undefined },
      { path: 'e', before: undefined, after: { f: 4 } },
    ]);
  });

  it('match the items of a list by their ids', () => {
    const before = { messages: messages(1, 2, 3) };
    const after = { messages: [...messages(2), { id: 'm3', content: 'Edited' }, ...messages(4)] };
    expect(changesBetween(before, after)).toEqual([
      { path: 'messages.m1', before: { id: 'm1', content: 'Message 1' }, after: undefined },
      { path: 'messages.m3.content', before: 'Message 3', after: 'Edited' },
      { path: 'messages.m4', before: undefined, after: { id: 'm4', content: 'Message 4' } },
    ]);
  });

  it('name another order of the same items', () => {
    expect(changesBetween(messages(1, 2, 3), messages(3, 2))).toEqual([
      { path: 'm1', before: { id: 'm1', content: 'Message 1' }, after: undefined },
      { path: '(order)', before: ['m2', 'm3'], after: ['m3', 'm2'] },
    ]);
  });

  it.each([
    ['one has no id', [{ id: 'a' }, 1], [{ id: 'a' }, 2]],
    ['two have the same', [{ id: 'a' }, { id: 'a', n: 1 }], [{ id: 'a' }, { id: 'a', n: 2 }]],
  ])('match them by their places where %s', (_, before, after) => {
    expect(changesBetween(before, after).map(({ path }) => path)).toEqual([expect.stringMatching(/^1(\.n)?$/)]);
  });
});
