import { hasLongIntegers, parseExactly, stringifyExactly } from './exact-json';

const rewritten = (text: string): string => stringifyExactly(parseExactly(text));

describe('JSON with integers beyond 2^53', () => {
  it.each([
    '{"id":12345678901234567890}',
    '[9007199254740993,-9007199254740993]',
    '{"a":{"b":[{"c":10000000000000000000000000000000000001}]},"d":"12345678901234567890"}',
    '9007199254740993',
    '{"a":1,"b":[true,null,"x"],"c":0.1,"d":9007199254740993,"e":"\\u0000\\ud800"}',
    '{"__proto__":{"a":9007199254740993}}',
  ])('is unchanged after it was read and written: %s', (text) => {
    expect(rewritten(text)).toBe(text);
  });

  it('otherwise equals the result of JSON.parse', () => {
    for (const text of [
      '{"a":1.0,"b":1e3,"c":0.30000000000000004,"d":0.12345678901234567890123}',
      '{"a":1,"a":9007199254740993,"a":2}',
      '{"s":"a: 12345678901234567890, [1234567890123456789]"}',
      ' [ 9007199254740991 , 1 ] ',
    ]) {
      expect(JSON.parse(rewritten(text))).toEqual(JSON.parse(text));
    }
    expect(stringifyExactly({ a: undefined, b: new Date(0), c: parseExactly('9007199254740993') })).toBe(
      '{"b":"1970-01-01T00:00:00.000Z","c":9007199254740993}',
    );
  });

  it('is examined closely only where such an integer may occur', () => {
    expect(hasLongIntegers('{"score":0.8444218515250481,"id":"20261120T100000123456Z","at":1795246594876}')).toBe(
      false,
    );
    expect(hasLongIntegers('{"id": 9007199254740993}')).toBe(true);
  });

  it.each(['{"a":12345678901234567890', '[12345678901234567890,]', '{"a":12345678901234567890}}'])(
    'is refused when it is not valid JSON: %s',
    (text) => {
      expect(() => parseExactly(text)).toThrow(SyntaxError);
    },
  );
});
