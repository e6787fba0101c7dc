import { dottedOrderSegment, parseDottedOrder, SEGMENT_LENGTH, uuidTime } from './dotted-order';
import type { Instant } from './instant';

const ROOT = '018f0000-0000-7000-8000-000000000001';
const CHILD = '018f0000-0000-7000-8000-000000000002';

describe('dotted order', () => {
  it('gives the trace, the ancestors and the start of a run', () => {
    expect(parseDottedOrder(`20261120T100000123456Z${ROOT}.20261120T100001000001Z${CHILD.toUpperCase()}`)).toEqual({
      runId: CHILD,
      traceId: ROOT,
      ancestors: [ROOT],
      startTime: '2026-11-20T10:00:01.000001Z',
    });
  });

  it('accepts milliseconds', () => {
    expect(parseDottedOrder(`20261120T100000123Z${ROOT}`)?.startTime).toBe('2026-11-20T10:00:00.123000Z');
  });

  it.each(['', ROOT, `20261120T100000123456Z${ROOT}.`, `20261320T100000123456Z${ROOT}`, `20261120T1000001234Z${ROOT}`])(
    'refuses %p',
    (text) => {
      expect(parseDottedOrder(text)).toBeUndefined();
    },
  );

  it('writes what it reads', () => {
    const segment = dottedOrderSegment('2026-11-20T10:00:00.123456Z' as Instant, ROOT);
    expect(segment).toHaveLength(SEGMENT_LENGTH);
    expect(parseDottedOrder(segment)?.startTime).toBe('2026-11-20T10:00:00.123456Z');
  });

  it('reads the time of a UUIDv7 and of no other version', () => {
    expect(uuidTime(ROOT)).toBe('2024-04-21T09:32:31.104000Z');
    expect(uuidTime('018f0000-0000-4000-8000-000000000001')).toBeUndefined();
  });
});
