import { deserialize, serialize } from 'node:v8';
import { expectLibrary } from '../../../test/support/library-guard';
import { countSerialized } from './serialized-values';

describe('serialized values', () => {
  it.each<[string, unknown, number]>([
    ['a text', 'x', 1],
    ['a text in two bytes', 'ↄ'.repeat(300), 1],
    ['numbers', [1, -2, 1.5, 2 ** 31, 1e300, NaN], 6],
    ['other plain values', [true, false, null, undefined, 12345678901234567890n, -1n, new Date(0)], 7],
    ['a list with holes', Object.assign(new Array<number>(1000), { 5: 1, 999: 2 }), 4],
    ['bytes', [Buffer.from('oAo{{{'), new Uint8Array([0x6f, 0x6f]), Buffer.alloc(70_000, 'o')], 3],
    ['an object', { a: { b: { c: 'ooo' } } }, 7],
    ['empty objects', Array.from({ length: 1000 }, () => ({})), 1001],
  ])('are counted: %s', (_, value, least) => {
    const bytes = serialize(value);
    const count = countSerialized(bytes, Infinity);
    const isRead = count >= least && count <= 4 * least + 10;
    expectLibrary(isRead, `Node serializes values otherwise than the patch takes it to: ${count} of ${least}`);
    expect(() => countSerialized(bytes, count - 1)).toThrow('more than');
  });

  it('contain no more values than were counted, although few bytes can encode many', () => {
    const bytes = serialize(Array.from({ length: 300_000 }, () => ({})));
    expect(bytes.length).toBeLessThan(1_000_000);
    expect(() => countSerialized(bytes, 200_000)).toThrow('more than 200000 values');
    expect(deserialize(bytes)).toHaveLength(300_000);
  });

  it('contain plain values only', () => {
    for (const value of [new Map(), new Set([1]), /x/, new Error('x'), Object('x')])
      expect(() => countSerialized(serialize(value), 100)).toThrow('a value of the kind');
  });

  it('may be truncated anywhere', () => {
    const bytes = serialize({ a: ['x'.repeat(300), 1.5, Buffer.alloc(9), 10n] });
    for (let length = 0; length < bytes.length; length += 1) {
      expect(countSerialized(bytes.subarray(0, length), 100)).toBeLessThan(20);
    }
  });
});
