import { stringifyDeep } from './deep-json';

describe('JSON of any depth', () => {
  const nested = (depth: number): string => '{"a":['.repeat(depth) + ']}'.repeat(depth);

  it('is written where JSON.stringify overflows the stack', () => {
    const text = nested(50_000);
    const value = JSON.parse(text) as unknown;
    expect(() => JSON.stringify(value)).toThrow(RangeError);
    expect(stringifyDeep(value)).toBe(text);
  });

  it('is written exactly as JSON.stringify writes it', () => {
    const plain = { a: undefined, b: [undefined, null, 1.5, 'ü"\ud800', true, [], {}], 'c"': {}, d: { e: undefined } };
    const deep = stringifyDeep([JSON.parse(nested(5_000)), plain]);
    expect(deep.endsWith(`,${JSON.stringify(plain)}]`)).toBe(true);
  });
});
