import { gzipSync } from 'node:zlib';

const nested = (open: string, close: string, depth: number, inside = ''): string =>
  open.repeat(depth) + inside + close.repeat(depth);

export interface HostileBody {
  name: string;
  content: Buffer;
  headers?: Record<string, string>;
}

const text = (name: string, content: string): HostileBody => ({ name, content: Buffer.from(content) });

/** JSON that is nested more deeply than allowed: refused with 422 wherever JSON is read. */
export const DEEP_BODIES: HostileBody[] = [
  text('a list, a level too deep', nested('[', ']', 201)),
  text('a list, 5,000 deep', nested('[', ']', 5_000)),
  text('an object, 5,000 deep', nested('{"a":', '}', 5_000, '1')),
  text('a field, 5,000 deep', `{"input":${nested('[', ']', 5_000)}}`),
  text('a million brackets without an end', '['.repeat(1_000_000)),
];

/** 128 KB of one character in four bytes, 500 times: 64 MB. */
const zstdBomb = (character: string): Buffer =>
  Buffer.from([
    ...[0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3],
    ...Array.from({ length: 500 }, () => [0x02, 0x00, 0x10, character.charCodeAt(0)]).flat(),
  ]);

/** Bodies that are wrong, or odd, in other ways: none may do harm, whatever the answer is. */
export const ODD_BODIES: HostileBody[] = [
  text('a list of many values', `[${'1,'.repeat(700_000)}1]`),
  text('an object of many names', `{${Array.from({ length: 300_000 }, (_, index) => `"k${index}":1`).join()}}`),
  text('a long string', JSON.stringify({ text: 'x'.repeat(2_000_000) })),
  text('a long number', `[${'1'.repeat(100_000)}]`),
  text('a string of escapes', `["${'\\"'.repeat(500_000)}`),
  text('nothing', ''),
  text('null', 'null'),
  text('a string', '"x"'),
  text('a number that is infinite', '1e400'),
  text('a list of nothing', '[]'),
  text('an object of nothing', '{}'),
  text('a list of lists', '[[]]'),
  text('a byte order mark', '\ufeff{}'),
  text('a prototype', '{"__proto__":{"admin":true}}'),
  text('a prototype of a constructor', '{"constructor":{"prototype":{"admin":true}}}'),
  text('names of methods', '{"toString":1,"valueOf":2,"hasOwnProperty":3,"toJSON":4,"then":5,"length":-1}'),
  { name: 'no UTF-8', content: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) },
  { name: 'zeros', content: Buffer.alloc(1_000) },
  { name: 'gzip of a deep list', content: gzipSync('['.repeat(50_000_000)), headers: { 'content-encoding': 'gzip' } },
  {
    name: 'gzip of a long string',
    content: gzipSync(`"${'x'.repeat(50_000_000)}"`),
    headers: { 'content-encoding': 'gzip' },
  },
  { name: 'zstd of a deep list', content: zstdBomb('['), headers: { 'content-encoding': 'zstd' } },
  { name: 'zstd of spaces', content: zstdBomb(' '), headers: { 'content-encoding': 'zstd' } },
  { name: 'brotli of nothing', content: Buffer.from('{}'), headers: { 'content-encoding': 'br' } },
];

/** Literals of JSON for every field of an operation that takes such a value. */
export const HOSTILE_STRINGS = [
  '"\\ud83d"',
  '"\\ude00 x"',
  '"a\\u0000b"',
  '""',
  '"9999-99-99T99:99:99Z"',
  '"0000-00-00T00:00:00Z"',
  '"+275760-09-13T00:00:00.001Z"',
  '"-271821-04-20T00:00:00Z"',
  '"infinity"',
  '"2026-02-30T25:61:61+99:99"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"../../etc/passwd"',
  '"%00"',
  `"${'x'.repeat(100_000)}"`,
  `"${'['.repeat(10_000)}"`,
];
export const HOSTILE_NUMBERS = [
  '1e308',
  '1e400',
  '-1e400',
  '-1',
  '-0',
  '0.1',
  '9007199254740993',
  '123456789012345678901234567890',
  '2147483648',
];
export const HOSTILE_VALUES = [
  nested('[', ']', 150),
  nested('{"a":', '}', 150, '1'),
  '{"a":"\\ud83d"}',
  '{"\\ud83d":1}',
  '{"a":"\\u0000"}',
  '{"a\\u0000":1}',
  '{"n":1e400,"m":-1e400,"i":123456789012345678901234567890}',
  '{"toString":1,"hasOwnProperty":2,"toJSON":3,"then":4,"length":-1,"constructor":5}',
  '{"lc":1,"type":"constructor","id":["langchain_core","documents","Document"],"kwargs":{"page_content":"x"}}',
  '{"lc":1,"type":"secret","id":["PATH"]}',
  '{"lc":2,"type":"undefined","id":["Date"],"method":"now","args":[]}',
  '{"messages":[{"role":"toString","content":{"type":"__proto__"}}]}',
  '{"messages":[{"type":"constructor","data":{}}]}',
];

/** Texts for every parameter of a query and of a path, as they stand in the address. */
export const HOSTILE_PARAMETERS = [
  '%00',
  'a%00b',
  '%ED%A0%BD',
  '%F0%9F',
  '%C0%AE%C0%AE%2F',
  '..%2F..%2Fetc%2Fpasswd',
  '__proto__',
  'constructor',
  'NaN',
  'Infinity',
  '-1',
  '1e308',
  '9223372036854775808',
  '0000-00-00T00%3A00%3A00Z',
  '%2B275760-09-13T00%3A00%3A00.001Z',
  '%5B%5B%5B',
  'x'.repeat(2_000),
];
