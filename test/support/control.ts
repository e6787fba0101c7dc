import type { OpenApiDocument } from './openapi-document';
import type { Recorded } from './recording-client';

/** Ids and times are different each time: as keys and in keys they count as one. */
const ID = /[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{32}\b/g;

/** Path in a value → the types that stand there. */
type Shape = Map<string, Set<string>>;

/**
 * The differences between what two servers answered to the same calls of a method: a status, a type at a place of the answer,
 * the sequence of events. Each is a line `threads.get .ttl: object | –`, Gantry's first; a dash is nothing.
 */
export function differences(name: string, ours: Recorded[], theirs: Recorded[], openApi: OpenApiDocument): string[] {
  const lines = ours.flatMap((call, index) => {
    const control = theirs[index];
    return [
      ...requestDifferences(call, control, openApi),
      ...difference('events', sequenceOf(call), sequenceOf(control)),
      ...shapeDifferences('event ', shapeOfEvents(call), shapeOfEvents(control)),
    ];
  });
  return [...new Set(lines)].map((line) => `${name} ${line}`);
}

function requestDifferences(ours: Recorded, theirs: Recorded, openApi: OpenApiDocument): string[] {
  const both = Math.max(ours.sent.length, theirs.sent.length);
  return Array.from({ length: both }, (_, index) => {
    const [own, other] = [ours.sent.at(index), theirs.sent.at(index)];
    if (!own || !other) {
      const { method, url } = (own ?? other)!;
      return difference(`${method} ${openApi.template(url)}`, own ? 'sent' : '–', other ? 'sent' : '–');
    }
    if (own.status !== other.status) return difference('status', own.status, other.status);
    return shapeDifferences('', shapeOf(own.answer), shapeOf(other.answer));
  }).flat();
}

function difference(what: string, ours: string | number, theirs: string | number): string[] {
  return ours === theirs ? [] : [`${what}: ${ours} | ${theirs}`];
}

function sequenceOf({ events, failure }: Recorded): string {
  const names = events.map(({ event }) => event).join(' ') || '–';
  return failure && events.length > 0 ? `${names} failure` : names;
}

function shapeOfEvents({ events }: Recorded): Shape {
  const shape: Shape = new Map();
  for (const { event, data } of events) collect(data, event, shape);
  return shape;
}

function shapeOf(value: unknown): Shape {
  const shape: Shape = new Map();
  if (value !== undefined) collect(value, '', shape);
  return shape;
}

function collect(value: unknown, path: string, shape: Shape): void {
  const types = shape.get(path) ?? new Set();
  shape.set(path, types);
  if (Array.isArray(value)) {
    types.add('array');
    for (const each of value) collect(each, `${path}[]`, shape);
  } else if (typeof value === 'object' && value !== null) {
    types.add('object');
    for (const [key, each] of Object.entries(value)) collect(each, `${path}.${key.replace(ID, '<id>')}`, shape);
  } else {
    types.add(value === null ? 'null' : typeof value);
  }
}

function shapeDifferences(prefix: string, ours: Shape, theirs: Shape): string[] {
  const paths = [...new Set([...ours.keys(), ...theirs.keys()])].sort();
  const isBelowAnother = (path: string): boolean =>
    paths.some((other) => other !== path && isInside(path, other) && ours.has(other) !== theirs.has(other));
  return paths
    .filter((path) => !isBelowAnother(path))
    .flatMap((path) => difference(`${prefix}${path || 'answer'}`, typesAt(ours, path), typesAt(theirs, path)));
}

function isInside(path: string, other: string): boolean {
  return path.startsWith(`${other}.`) || path.startsWith(`${other}[`);
}

function typesAt(shape: Shape, path: string): string {
  return [...(shape.get(path) ?? [])].sort().join('/') || '–';
}
