import { SqlLiterals } from './sql-literals';

describe('values in the text of a statement', () => {
  it.each<[unknown, string, string]>([
    ['plain', 'text', `'plain'::text`],
    ["it's", 'text', `'it''s'::text`],
    ['back\\slash', 'text', ` E'back\\\\slash'::text`],
    [1.5, 'numeric', `'1.5'::numeric`],
    [null, 'text', 'NULL::text'],
    [['a', "b'"], 'text[]', `ARRAY['a', 'b''']::text[]`],
    [[], 'uuid[]', 'ARRAY[]::uuid[]'],
  ])('%p', (value, type, text) => {
    expect(new SqlLiterals().add(value, type)).toBe(text);
  });

  it('refuses a value that has no literal', () => {
    expect(() => new SqlLiterals().add({ a: 1 }, 'jsonb')).toThrow(TypeError);
  });
});
