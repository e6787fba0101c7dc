import { storableText } from '../database/storable-text';
import { storableJsonb } from './stored-text';

describe('text that Postgres can hold', () => {
  it('contains no NUL', () => {
    expect(storableText('a\0b\0')).toBe('a\ufffdb\ufffd');
    expect(storableText('plain')).toBe('plain');
  });

  it.each([
    [{ a: '\0' }, { a: '\ufffd' }],
    [{ '\0': 1 }, { '\ufffd': 1 }],
    [{ a: '\\u0000' }, { a: '\\u0000' }],
    [{ a: '\\\0' }, { a: '\\\ufffd' }],
    [{ a: '\ud800' }, { a: '\ufffd' }],
    [{ a: '\ud83d\ude00 \u0001' }, { a: '\ud83d\ude00 \u0001' }],
  ])('is valid jsonb: %j', (given, expected) => {
    expect(JSON.parse(storableJsonb(given))).toEqual(expected);
  });
});
