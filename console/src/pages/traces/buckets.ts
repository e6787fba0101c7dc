import { type RunSelection, statsQuery } from './traces-api';

/** Number of buckets of a chart; each is a request to the server. */
export const BUCKETS = 12;
/** The last buckets, whose runs may still begin, end, and have their tokens counted. */
const OPEN_BUCKETS = 2;
const WATCH_MS = 30_000;
/** Time for which the figures of the other buckets are taken as they are: late uploads and long traces change them. */
const SETTLED_MS = 5 * 60_000;

/** A part of a chart's period. Times are in milliseconds since 1970. */
export interface Bucket {
  from: number;
  width: number;
  isOpen: boolean;
}

/**
 * The buckets of a period that ends now. Their edges are multiples of their width: the same at each call until the newest
 * bucket is full, so that the buckets before it are requested once.
 */
export function bucketsOf(periodMs: number, now: number): Bucket[] {
  const width = periodMs / BUCKETS;
  const end = Math.ceil(now / width) * width;
  return Array.from({ length: BUCKETS }, (_, index) => ({
    from: end - (BUCKETS - index) * width,
    width,
    isOpen: index >= BUCKETS - OPEN_BUCKETS,
  }));
}

/** Figures of the runs of a bucket, requested again for as long as they change. */
export const bucketQuery = (selection: RunSelection, { from, width, isOpen }: Bucket) =>
  ({
    ...statsQuery({
      ...selection,
      start_time: new Date(from).toISOString(),
      end_time: new Date(from + width).toISOString(),
    }),
    staleTime: isOpen ? WATCH_MS : SETTLED_MS,
    refetchInterval: isOpen ? WATCH_MS : false,
  }) as const;
