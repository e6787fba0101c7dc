/** Size of a slice: large enough that a round trip costs little, and processed in a few milliseconds. */
const CHARACTERS = 1024 * 1024;
const ITEMS = 1_000;

/**
 * Splits a large upload into slices, so that the process answers other requests between them.
 * @param weigh approximate characters of an item
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
