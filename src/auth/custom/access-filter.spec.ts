import { accessSql, matchesAccess, parseAccessFilter, whereSaid } from './access-filter';

function sqlOf(filter: unknown): { sql: string; values: string[] } {
  const values: string[] = [];
  const sql = accessSql(parseAccessFilter(filter), 'metadata', (value) => `$${values.push(value)}`);
  return { sql, values };
}

describe('an auth filter', () => {
  it.each([
    [{ owner: 'a' }, 'metadata @> CAST($1 AS jsonb)', ['{"owner":"a"}']],
    [{ owner: { $eq: 'a' } }, 'metadata @> CAST($1 AS jsonb)', ['{"owner":"a"}']],
    [{ owner: null }, 'metadata @> CAST($1 AS jsonb)', ['{"owner":null}']],
    [{ tags: { $contains: 'x' } }, 'metadata @> CAST($1 AS jsonb)', ['{"tags":["x"]}']],
    [{ tags: { $contains: ['x', 'y'] } }, 'metadata @> CAST($1 AS jsonb)', ['{"tags":["x","y"]}']],
    [
      { place: { city: 'Oslo' } },
      'metadata @> CAST($1 AS jsonb) AND metadata -> CAST($2 AS text) = CAST($3 AS jsonb)',
      ['{"place":{"city":"Oslo"}}', 'place', '{"city":"Oslo"}'],
    ],
    [{ a: 1, b: true }, 'metadata @> CAST($1 AS jsonb) AND metadata @> CAST($2 AS jsonb)', ['{"a":1}', '{"b":true}']],
    [
      { $or: [{ a: 1 }, { b: 2, c: 3 }] },
      '((metadata @> CAST($1 AS jsonb)) OR (metadata @> CAST($2 AS jsonb) AND metadata @> CAST($3 AS jsonb)))',
      ['{"a":1}', '{"b":2}', '{"c":3}'],
    ],
    [
      { $and: [{ a: 1 }, { b: 2 }] },
      'metadata @> CAST($1 AS jsonb) AND metadata @> CAST($2 AS jsonb)',
      ['{"a":1}', '{"b":2}'],
    ],
    [{}, 'TRUE', []],
  ])('%j becomes SQL with its values as parameters', (filter, sql, values) => {
    expect(sqlOf(filter)).toEqual({ sql, values });
  });

  it('never puts a key or a value into the SQL text', () => {
    const { sql } = sqlOf({ "x' OR TRUE --": { $eq: ["'; DROP TABLE threads"] } });
    expect(sql).not.toMatch(/OR TRUE|DROP/);
  });

  it.each([
    ['a list', []],
    ['a text', 'owner'],
    ['an unknown operator', { owner: { $ne: 'a' } }],
    ['an operator where a key belongs', { $not: { owner: 'a' } }],
    ['a known operator beside an unknown one', { owner: { $eq: 'a', $in: ['b'] } }],
    ['one alternative', { $or: [{ a: 1 }] }],
    ['nesting without end', { $or: [{ a: 1 }, { $or: [{ b: 1 }, { $and: [{ c: 1 }, { d: 1 }] }] }] }],
    ['an alternative that is not a filter', { $or: [{ a: 1 }, 'b'] }],
    ['an empty alternative', { $or: [{ a: 1 }, {}] }],
  ])('that is %s is refused', (_what, filter) => {
    expect(() => parseAccessFilter(filter)).toThrow(/auth filter/);
  });

  it.each([
    [{ owner: 'a' }, { owner: 'a', more: 1 }, true],
    [{ owner: 'a' }, { owner: ['a'] }, false],
    [{ owner: 'a' }, {}, false],
    [{ owner: null }, {}, false],
    [{ place: { city: 'Oslo' } }, { place: { city: 'Oslo' } }, true],
    [{ place: { city: 'Oslo' } }, { place: { city: 'Oslo', street: 'x' } }, false],
    [{ tags: { $contains: ['x', 'y'] } }, { tags: ['y', 'z', 'x'] }, true],
    [{ tags: { $contains: 'x' } }, { tags: 'x' }, false],
    [{ $or: [{ a: 1 }, { b: 2 }] }, { b: 2 }, true],
    [{ $or: [{ a: 1 }, { b: 2 }], c: 3 }, { b: 2 }, false],
    [{}, {}, true],
  ])('%j applied to %j: %s', (filter, object, expected) => {
    expect(matchesAccess(parseAccessFilter(filter), object)).toBe(expected);
  });

  it.each([
    [{ owner: 'bob' }, false],
    [{ owner: 'ada' }, true],
    [{ public: true }, true],
    [{ text: 'of no user' }, true],
  ])('without conditions on fields that %j lacks, with its other alternatives: %s', (object, matches) => {
    const filter = parseAccessFilter({ $or: [{ owner: 'ada' }, { public: true }] });
    expect(matchesAccess(whereSaid(filter, object), object)).toBe(matches);
  });
});
