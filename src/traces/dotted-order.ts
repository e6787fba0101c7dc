import { Instant, toInstant } from './instant';

const SEGMENT =
  /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3}|\d{6})Z([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

/** Information in a dotted order: the place of its run in the trace, and the start of the run. */
export interface Position {
  runId: string;
  traceId: string;
  /** Ids from the root to the direct parent; empty for a root. */
  ancestors: string[];
  startTime: Instant;
}

/** Reads `20261121T093000123456Z<uuid>.…`, one segment per ancestor; three fractional digits are accepted as well. */
export function parseDottedOrder(dottedOrder: string): Position | undefined {
  const segments = dottedOrder.split('.').map((segment) => SEGMENT.exec(segment));
  if (segments.includes(null)) return undefined;
  const ids = segments.map((segment) => segment?.[8]?.toLowerCase() ?? '');
  const [, year, month, day, hour, minute, second, fraction] = segments.at(-1) ?? [];
  const startTime = toInstant(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction?.padEnd(6, '0')}Z`);
  const [traceId] = ids;
  const runId = ids.at(-1);
  if (!runId || !traceId || !startTime) return undefined;
  return { runId, traceId, ancestors: ids.slice(0, -1), startTime };
}

/** Characters of a segment with microseconds: a time stamp and a UUID. */
export const SEGMENT_LENGTH = 22 + 36;

/** The segment of a run that began at `startTime`, to be appended to its parent's dotted order. */
export function dottedOrderSegment(startTime: Instant, runId: string): string {
  return startTime.replace(/[-:.]/g, '') + runId;
}

/** The time in a UUIDv7, which trace clients use as run ids; undefined for other versions. */
export function uuidTime(id: string): Instant | undefined {
  if (id[14] !== '7') return undefined;
  return toInstant(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}
