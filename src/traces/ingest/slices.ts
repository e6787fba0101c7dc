/** Enough for a round trip to cost little; handled in one piece, in a few milliseconds. */
const CHARACTERS = 1024 * 1024;
const ITEMS = 1_000;

/**
 * Parts of a large upload, each of which may be handled without a pause: between two of them the process answers others.
 * @param weigh characters of an item, about
 */
export function* slices<T>(items: readonly T[], weigh: (item: T) => number): Generator<T[]> {
  let slice: T[] = [];
  let weight = 0;
  for (const item of items) {
    slice.push(item);
    weight += weigh(item);
    if (weight < CHARACTERS && slice.length < ITEMS) continue;
    yield slice;
    slice = [];
    weight = 0;
  }
  if (slice.length > 0) yield slice;
}
