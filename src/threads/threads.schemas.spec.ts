import { createThreadSchema, getThreadQuery, patchThreadSchema } from './threads.schemas';

describe('the ttl of a thread', () => {
  it('takes null for absent in its fields', () => {
    const ttl = { strategy: 'delete', minutes: 5 };
    expect(createThreadSchema.parse({ ttl: { ttl: 5, strategy: null } })).toMatchObject({ ttl });
    expect(patchThreadSchema.parse({ ttl: { ttl: 5, strategy: null } })).toEqual({ ttl });
    expect(patchThreadSchema.safeParse({ ttl: { ttl: null } }).success).toBe(false);
  });
});

describe('`include` of a thread', () => {
  it.each([
    [undefined, []],
    ['ttl', ['ttl']],
    ['a, ttl', ['a', 'ttl']],
    ['["ttl"]', ['ttl']],
    [
      ['a', 'ttl'],
      ['a', 'ttl'],
    ],
  ])('%j means %j', (include, expected) => {
    expect([...getThreadQuery.parse({ include }).include]).toEqual(expected);
  });
});
