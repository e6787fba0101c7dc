import type { LosslessNumber } from 'lossless-json';
import { parse } from 'protobufjs';
import { z } from 'zod';
import { exactNumber, isExactNumber } from '../../http/exact-json';

/** The parts of OTLP's trace messages that are read; unknown fields are skipped by the decoder. */
const PROTO = `
  syntax = "proto3";
  message TracesData { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Scope { string name = 1; string version = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Event events = 11; Status status = 15;
  }
  message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValueList { repeated KeyValue values = 1; }
  message AnyValue {
    oneof value {
      string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
      ArrayValue array_value = 5; KeyValueList kvlist_value = 6; bytes bytes_value = 7;
    }
  }`;
const TracesData = parse(PROTO, { keepCase: false }).root.lookupType('TracesData');

interface AnyValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: string | number | LosslessNumber;
  doubleValue?: number | string | null | LosslessNumber;
  arrayValue?: { values?: AnyValue[] };
  kvlistValue?: { values?: KeyValue[] };
  bytesValue?: string;
}
interface KeyValue {
  key: string;
  value?: AnyValue;
}

/** An upload may carry as many; exporters send some hundreds or thousands at once. */
const MAX_SPANS = 50_000;
/** Maximum for a span, an event or a resource. SDKs allow 128 by default, but instrumentations flatten whole conversations. */
const MAX_ATTRIBUTES = 10_000;
const MAX_EVENTS = 10_000;
/** Vectors have thousands of numbers. */
const MAX_VALUES = 100_000;

/**
 * A list whose check ends at its first invalid element: `z.array` collects the issues of all elements, and a body of some
 * hundred bytes can unfold to a list of hundreds of thousands.
 */
function list<T>(element: z.ZodType<T>, max: number) {
  return z
    .array(z.unknown())
    .max(max, `may have ${max} elements at the most`)
    .transform((items, context): T[] => {
      const values: T[] = [];
      for (const [index, item] of items.entries()) {
        const { data, error } = element.safeParse(item);
        if (error) {
          for (const { path, message } of error.issues) {
            context.addIssue({ code: 'custom', path: [index, ...path], message });
          }
          return z.NEVER;
        }
        values.push(data as T);
      }
      return values;
    });
}

/** A number of JSON with more digits than JavaScript holds. */
const longNumber = z.custom<LosslessNumber>(isExactNumber);
/** JSON has no numbers for NaN and the infinities: the mapping of protobuf has their names, and JSON.stringify writes null. */
const double = z.union([
  z.number(),
  z.enum(['NaN', 'Infinity', '-Infinity']),
  z.null(),
  z.nan(),
  z.literal([Infinity, -Infinity]),
  longNumber,
]);
const anyValue: z.ZodType<AnyValue> = z.lazy(() =>
  z.looseObject({
    stringValue: z.string().optional(),
    boolValue: z.boolean().optional(),
    intValue: z.union([z.string(), z.number(), longNumber]).optional(),
    doubleValue: double.optional(),
    arrayValue: z.looseObject({ values: list(anyValue, MAX_VALUES).optional() }).optional(),
    kvlistValue: z.looseObject({ values: list(keyValue, MAX_VALUES).optional() }).optional(),
    bytesValue: z.string().optional(),
  }),
);
const keyValue: z.ZodType<KeyValue> = z.lazy(() => z.looseObject({ key: z.string(), value: anyValue.optional() }));
const attributes = list(keyValue, MAX_ATTRIBUTES).default([]);
/** Digits of an unsigned number of 64 bits: BigInt takes seconds for millions of them. */
const UINT64 = /^\d{1,20}$/;
const INT64 = /^-?(?:0|[1-9]\d{0,18})$/;
const isUint64 = (value: string | number): boolean =>
  typeof value === 'string' ? UINT64.test(value) : Number.isInteger(value) && value >= 0 && value < 2 ** 64;
/**
 * Nanoseconds since 1970: a JSON string as the mapping has it, or a number as some exporters write, which is above 2^53 for
 * all times since April 1970.
 */
const nanoseconds = z
  .union([z.string(), z.number(), longNumber.transform(({ value }) => value)])
  .refine(isUint64, 'must be a whole number of nanoseconds since 1970, of at most 20 digits')
  .transform((value) => BigInt(value));
const hexId = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-fA-F]{${bytes * 2}}$`))
    .transform((id) => id.toLowerCase());

const eventSchema = z.looseObject({
  timeUnixNano: nanoseconds.default(0n),
  name: z.string().default(''),
  attributes,
});
const spanSchema = z.looseObject({
  traceId: hexId(16),
  spanId: hexId(8),
  parentSpanId: z.union([z.literal(''), hexId(8)]).default(''),
  name: z.string().default(''),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds.optional(),
  attributes,
  events: list(eventSchema, MAX_EVENTS).default([]),
  status: z
    .looseObject({ message: z.string().optional(), code: z.union([z.number(), z.string()]).optional() })
    .optional(),
});
const scopeSpansSchema = z.looseObject({
  scope: z.looseObject({ name: z.string().optional() }).optional(),
  spans: list(spanSchema, MAX_SPANS).default([]),
});
const resourceSpansSchema = z.looseObject({
  resource: z.looseObject({ attributes }).optional(),
  scopeSpans: list(scopeSpansSchema, MAX_SPANS).default([]),
});
const requestSchema = z.looseObject({ resourceSpans: list(resourceSpansSchema, MAX_SPANS).default([]) });

export type Attributes = Record<string, unknown>;

export interface SpanEvent {
  name: string;
  time: bigint;
  attributes: Attributes;
}

/** A span with its attributes as plain values. Ids are in hexadecimal; a root has no parent. */
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  start: bigint;
  end: bigint | undefined;
  attributes: Attributes;
  events: SpanEvent[];
  failed: boolean;
  statusMessage: string | undefined;
  resource: Attributes;
  scope: string | undefined;
}

const ERROR_STATUS = new Set<unknown>([2, 'STATUS_CODE_ERROR']);

/** The decoded message, as far as its spans. */
interface Message {
  resourceSpans?: { scopeSpans?: { spans?: Record<string, unknown>[] }[] }[];
}

/** Decodes the protobuf form. @throws {Error} for bytes that are none, {z.ZodError} for what can't be a trace. */
export function decodeProtobuf(body: Buffer): Span[] {
  const decoded = TracesData.decode(body);
  checkCount(decoded as Message);
  const message = TracesData.toObject(decoded, { longs: String, bytes: String }) as Message;
  for (const spans of listsOfSpans(message)) spans.forEach(writeIdsInHex);
  return toSpans(message);
}

/** Decodes the JSON form, whose ids are hexadecimal. @throws {z.ZodError} */
export function decodeJson(body: unknown): Span[] {
  return toSpans(body);
}

function listsOfSpans({ resourceSpans = [] }: Message): Record<string, unknown>[][] {
  return resourceSpans.flatMap(({ scopeSpans = [] }) => scopeSpans.map(({ spans = [] }) => spans));
}

/** An empty span has two bytes: what is converted and checked must not be much larger than what was sent. */
function checkCount(message: Message): void {
  const count = listsOfSpans(message).reduce((sum, spans) => sum + spans.length, 0);
  if (count <= MAX_SPANS) return;
  const problem = `may have ${MAX_SPANS} spans at the most, and has ${count}: send them in several requests`;
  throw new z.ZodError([{ code: 'custom', path: ['resourceSpans'], message: problem, input: undefined }]);
}

/** Protobuf's bytes came out as base64; ids are hexadecimal in the JSON form. */
function writeIdsInHex(span: Record<string, unknown>): void {
  for (const key of ['traceId', 'spanId', 'parentSpanId']) {
    const id = span[key];
    if (typeof id === 'string') span[key] = Buffer.from(id, 'base64').toString('hex');
  }
}

function toSpans(body: unknown): Span[] {
  return requestSchema.parse(body).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const shared = plain(resource?.attributes ?? []);
    return scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span): Span => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: /^0*$/.test(span.parentSpanId) ? undefined : span.parentSpanId,
        name: span.name,
        start: span.startTimeUnixNano,
        end: span.endTimeUnixNano === 0n ? undefined : span.endTimeUnixNano,
        attributes: plain(span.attributes),
        events: span.events.map((event) => ({
          name: event.name,
          time: event.timeUnixNano,
          attributes: plain(event.attributes),
        })),
        failed: ERROR_STATUS.has(span.status?.code),
        statusMessage: present(span.status?.message),
        resource: shared,
        scope: present(scope?.name),
      })),
    );
  });
}

/** Protobuf has no absent strings, only empty ones. */
const present = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

function plain(entries: KeyValue[]): Attributes {
  return Object.fromEntries(entries.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue(value: AnyValue | undefined): unknown {
  if (!value) return null;
  if (value.intValue !== undefined) return integerOf(value.intValue);
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(plainValue);
  if (value.kvlistValue) return plain(value.kvlistValue.values ?? []);
  return value.stringValue ?? value.boolValue ?? doubleOf(value.doubleValue) ?? value.bytesValue ?? null;
}

/** An integer with all of its digits. Text that isn't one stays as it is. */
function integerOf(value: string | number | LosslessNumber): unknown {
  return typeof value === 'string' && INT64.test(value) ? exactNumber(value) : value;
}

/** A number that JSON has none for becomes its name. */
function doubleOf(value: AnyValue['doubleValue']): AnyValue['doubleValue'] {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
