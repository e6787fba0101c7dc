import { Writer } from 'protobufjs';
import { ZodError } from 'zod';
import { parseExactly, stringifyExactly } from '../../http/exact-json';
import { decodeJson, decodeProtobuf } from './otlp-decoder';

type Json = Record<string, unknown>;

const SPAN = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), startTimeUnixNano: '1795168800123456789' };
const requestOf = (spans: unknown[]): Json => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] });

/** A field of protobuf that holds bytes or a message. */
const field = (number: number, content: Uint8Array): Buffer =>
  Buffer.from(
    Writer.create()
      .uint32((number << 3) | 2)
      .bytes(content)
      .finish(),
  );
const repeated = (count: number, content: Buffer): Buffer => Buffer.concat(Array<Buffer>(count).fill(content));

function issuesOf(decode: () => unknown): string[] {
  try {
    decode();
  } catch (error) {
    if (error instanceof ZodError) return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw error;
  }
  return [];
}

describe('OTLP decoder', () => {
  it('reads what an element of each list has', () => {
    const vector = { arrayValue: { values: [{ intValue: '1' }, { doubleValue: 0.5 }] } };
    const attributes = [
      { key: 'text', value: { stringValue: 'why' } },
      { key: 'vector', value: vector },
      { key: 'nested', value: { kvlistValue: { values: [{ key: 'ok', value: { boolValue: true } }] } } },
    ];
    const [span] = decodeJson({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'a' } }] },
          scopeSpans: [{ spans: [{ ...SPAN, attributes, events: [{ name: 'e', timeUnixNano: 7, attributes }] }] }],
        },
      ],
    });
    const plain = { text: 'why', vector: [1, 0.5], nested: { ok: true } };
    expect(span).toMatchObject({
      traceId: SPAN.traceId,
      start: 1795168800123456789n,
      attributes: plain,
      events: [{ name: 'e', time: 7n, attributes: plain }],
      resource: { 'service.name': 'a' },
    });
  });

  it.each([
    ['a number', 0.5, 0.5],
    ['NaN', NaN, 'NaN'],
    ['an infinity', -Infinity, '-Infinity'],
    ['the name of one', 'Infinity', 'Infinity'],
    ['null, which JSON.stringify makes of them', null, null],
  ])('reads as a double: %s', (_form, doubleValue, expected) => {
    const attributes = [{ key: 'score', value: { doubleValue } }];
    expect(decodeJson(requestOf([{ ...SPAN, attributes }]))).toEqual([
      expect.objectContaining({ attributes: { score: expected } }),
    ]);
  });

  describe('keeps integers beyond 2^53', () => {
    const order = '1234567890123456789';
    const attributesOf = (spans: { attributes: Json }[]): string[] =>
      spans.map(({ attributes }) => stringifyExactly(attributes));

    it.each([
      ['text', { intValue: order }, order],
      ['a number', { intValue: parseExactly(order) }, order],
      ['a negative one', { intValue: `-${order}` }, `-${order}`],
      ['a small one', { intValue: '7' }, '7'],
      ['a double of many digits', { doubleValue: parseExactly('100000000000000000000') }, '100000000000000000000'],
      ['text that is no integer', { intValue: '0x7' }, '"0x7"'],
    ])('of the JSON form, as %s', (_form, value, expected) => {
      const spans = decodeJson(requestOf([{ ...SPAN, attributes: [{ key: 'order', value }] }]));
      expect(attributesOf(spans)).toEqual([`{"order":${expected}}`]);
    });

    it('of the protobuf form', () => {
      const value = Writer.create()
        .uint32(3 << 3)
        .int64(order)
        .finish();
      const attribute = Buffer.concat([field(1, Buffer.from('order')), field(2, value)]);
      const ids = [field(1, Buffer.alloc(16, 1)), field(2, Buffer.alloc(8, 2))];
      const span = Buffer.concat([...ids, Buffer.from([0x39, 1, 0, 0, 0, 0, 0, 0, 0]), field(9, attribute)]);
      expect(attributesOf(decodeProtobuf(field(1, field(2, field(2, span)))))).toEqual([`{"order":${order}}`]);
    });
  });

  it('refuses other text as a double', () => {
    const attributes = [{ key: 'score', value: { doubleValue: 'much' } }];
    expect(issuesOf(() => decodeJson(requestOf([{ ...SPAN, attributes }])))).toEqual([
      expect.stringContaining('attributes.0.value.doubleValue: '),
    ]);
  });

  it('reads the ids of the protobuf form as hexadecimal', () => {
    const ids = { traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 2), parentSpanId: Buffer.alloc(8, 0xfe) };
    const start = Buffer.from([0x39, 1, 0, 0, 0, 0, 0, 0, 0]);
    const span = Buffer.concat([field(1, ids.traceId), field(2, ids.spanId), field(4, ids.parentSpanId), start]);
    expect(decodeProtobuf(field(1, field(2, field(2, span))))).toEqual([
      expect.objectContaining({
        traceId: '01'.repeat(16),
        spanId: '02'.repeat(8),
        parentSpanId: 'fe'.repeat(8),
        start: 1n,
      }),
    ]);
  });

  describe('names the first invalid element of a list and reads no further', () => {
    const wrongAttributes = { attributes: [{ key: 'a' }, { key: 7 }, { key: 8 }] };
    it.each<[string, Json[], string]>([
      ['spans', [SPAN, { ...SPAN, spanId: 'x' }], 'resourceSpans.0.scopeSpans.0.spans.1.spanId'],
      ['attributes', [{ ...SPAN, ...wrongAttributes }], 'resourceSpans.0.scopeSpans.0.spans.0.attributes.1.key'],
      [
        'events',
        [{ ...SPAN, events: [{}, wrongAttributes] }],
        'resourceSpans.0.scopeSpans.0.spans.0.events.1.attributes.1.key',
      ],
      [
        'values',
        [{ ...SPAN, attributes: [{ key: 'a', value: { arrayValue: { values: [{}, { boolValue: 1 }, 2] } } }] }],
        'resourceSpans.0.scopeSpans.0.spans.0.attributes.0.value.arrayValue.values.1.boolValue',
      ],
    ])('%s', (_list, spans, path) => {
      const unread = new Proxy(SPAN, {
        get: () => {
          throw new Error('an element after the first invalid one was read');
        },
      });
      expect(issuesOf(() => decodeJson(requestOf([...spans, unread])))).toEqual([
        expect.stringMatching(new RegExp(`^${path}: `)),
      ]);
    });

    it('with as many issues for a thousand empty spans as for one', () => {
      const issues = issuesOf(() => decodeJson(requestOf(Array<Json>(1000).fill({}))));
      expect(issues).toEqual(issuesOf(() => decodeJson(requestOf([{}]))));
    });
  });

  it.each([
    ['text', '1795168800123456789', 1795168800123456789n],
    ['the largest one of 64 bits', '18446744073709551615', 18446744073709551615n],
    ['a number above 2^53', 1795168800000000000, 1795168800000000000n],
    ['a number with all of its digits', parseExactly('1795168800123456789'), 1795168800123456789n],
    ['zero', 0, 0n],
  ])('reads nanoseconds: %s', (_form, startTimeUnixNano, start) => {
    expect(decodeJson(requestOf([{ ...SPAN, startTimeUnixNano }]))).toEqual([expect.objectContaining({ start })]);
  });

  it.each([
    ['21 digits', '1'.repeat(21)],
    ['a number of 21 digits', 1e20],
    ['a fraction', 1.5],
    ['a negative number', -1],
    ['negative text', '-1'],
    ['empty text', ''],
  ])('refuses as nanoseconds: %s', (_form, value) => {
    const problem = 'must be a whole number of nanoseconds since 1970, of at most 20 digits';
    const spans = (fields: Json): Json => requestOf([{ ...SPAN, ...fields }]);
    const path = 'resourceSpans.0.scopeSpans.0.spans.0';
    expect(issuesOf(() => decodeJson(spans({ startTimeUnixNano: value })))).toEqual([
      `${path}.startTimeUnixNano: ${problem}`,
    ]);
    expect(issuesOf(() => decodeJson(spans({ endTimeUnixNano: value })))).toEqual([
      `${path}.endTimeUnixNano: ${problem}`,
    ]);
    expect(issuesOf(() => decodeJson(spans({ events: [{ timeUnixNano: value }] })))).toEqual([
      `${path}.events.0.timeUnixNano: ${problem}`,
    ]);
  });

  describe('refuses lists that no client sends', () => {
    it.each<[string, () => unknown, string]>([
      ['spans', () => decodeJson(requestOf(Array<Json>(50_001).fill(SPAN))), 'scopeSpans.0.spans: may have 50000'],
      ['scopes', () => decodeJson({ resourceSpans: [{ scopeSpans: Array<Json>(50_001).fill({}) }] }), 'scopeSpans: '],
      ['resources', () => decodeJson({ resourceSpans: Array<Json>(50_001).fill({}) }), 'resourceSpans: may have 50000'],
      [
        'attributes',
        () => decodeJson(requestOf([{ ...SPAN, attributes: Array<Json>(10_001).fill({ key: 'a' }) }])),
        'spans.0.attributes: may have 10000',
      ],
      ['events', () => decodeJson(requestOf([{ ...SPAN, events: Array<Json>(10_001).fill({}) }])), 'events: may have'],
    ])('of %s', (_list, decode, named) => {
      expect(issuesOf(decode)).toEqual([expect.stringContaining(named)]);
    });

    it('of empty spans in protobuf, which have two bytes each, even over several scopes', () => {
      const scope = field(2, repeated(30_000, field(2, Buffer.alloc(0))));
      expect(issuesOf(() => decodeProtobuf(field(1, repeated(2, scope))))).toEqual([
        'resourceSpans: may have 50000 spans at the most, and has 60000: send them in several requests',
      ]);
    });
  });
});
