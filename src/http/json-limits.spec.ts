import { ApiError } from './api-error';
import { checkJson, parseJson } from './json-limits';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const LIMITS = { depth: 3, tokens: 10 };

describe('the cost of JSON', () => {
  it('is bounded in depth, counting arrays and objects alike', () => {
    expect(parseJson(nested(200))).toEqual(JSON.parse(nested(200)));
    expect(() => parseJson(nested(201))).toThrow(/200 levels deep.*character 201/);
    expect(() => checkJson('{"a":[{"b":[1]}]}', LIMITS)).toThrow(/3 levels/);
    expect(() => checkJson('[[1],[[2]]]', LIMITS)).not.toThrow();
  });

  it('is refused with 422 and the position', () => {
    const refused = (() => {
      try {
        checkJson('[[[[', LIMITS);
        return undefined;
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ status: 422, code: 'json_too_deep', errors: [{ path: '', position: 3 }] });
  });

  it('is bounded in brackets, commas and colons', () => {
    expect(checkJson('{"a":1,"b":[2,3]}', LIMITS)).toBe(6);
    expect(() => checkJson('[1,2,3,4,5,6,7,8,9,10]', LIMITS)).not.toThrow();
    expect(() => checkJson('[1,2,3,4,5,6,7,8,9,10,11]', LIMITS)).toThrow(/10 brackets/);
  });

  it.each([
    ['brackets', '[[[['],
    ['an escaped quote', 'a"[[[['],
    ['a backslash at the end', '[[[[\\'],
    ['escaped quotes far from its beginning', `${'x'.repeat(100)}"[[[[\\"${'y'.repeat(200)}\\\\`],
    ['a quote just where a search begins', `${'x'.repeat(61)}\\"[[[[`],
    ['an escape across the place where a search begins', `${'x'.repeat(62)}\\"[[[[`],
  ])('ignores the content of strings: %s', (_, content) => {
    const text = JSON.stringify({ [content]: content });
    expect(checkJson(text, LIMITS)).toBe(2);
    expect(parseJson(text, LIMITS)).toEqual({ [content]: content });
  });

  it('leaves invalid JSON to the parser', () => {
    for (const text of ['', ']]]]', '"open', '"open\\', 'nothing', '[1,']) {
      expect(() => checkJson(text, LIMITS)).not.toThrow();
      expect(() => parseJson(text, LIMITS)).toThrow(SyntaxError);
    }
  });

  it('agrees with the parser about every prefix of a text', () => {
    const text = JSON.stringify({ 'a"b\\': ['\\"', { c: '\\\\' }, 'x'.repeat(150) + '"[{\\'], d: [[]] });
    for (let end = 0; end <= text.length; end += 1) expect(checkJson(text.slice(0, end))).toBeLessThanOrEqual(11);
    expect(checkJson(text)).toBe(11);
  });
});
