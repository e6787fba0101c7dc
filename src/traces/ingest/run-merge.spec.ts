import * as fc from 'fast-check';
import type { Instant } from '../instant';
import {
  decodeRanks,
  encodeRanks,
  mergeChange,
  OperationKind,
  Ranks,
  rankOf,
  RUN_FIELDS,
  RunChange,
  RunField,
} from './run-merge';

function change(
  kind: OperationKind,
  fields: Partial<Record<RunField, string>>,
  receivedAt = '2026-11-20T10:00:09.000000Z',
): RunChange {
  const endTime = fields.end_time as Instant | undefined;
  const ranked: RunChange = {};
  for (const field of RUN_FIELDS) {
    const value = fields[field];
    if (value !== undefined)
      ranked[field] = { value, rank: rankOf(field, value, kind, endTime, receivedAt as Instant) };
  }
  return ranked;
}

const values = (merged: RunChange): Record<string, string> =>
  Object.fromEntries(Object.entries(merged).map(([field, { value }]) => [field, value]));

function fold(operations: RunChange[]): RunChange {
  const merged: RunChange = {};
  for (const operation of operations) mergeChange(merged, operation);
  return merged;
}

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items];
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  );
}

const EARLY = '2026-11-20T10:00:03.000000Z';
const LATE = '2026-11-20T10:00:04.000000Z';

describe('merging operations on a run', () => {
  it('gives the same run for every order and repetition', () => {
    const operations = [
      change('post', { name: 'run', inputs: '{"a":1}', outputs: '{}', events: '[]', start_time: EARLY, project: 'p' }),
      change('patch', { outputs: '{"first":1}', end_time: EARLY, extra: '{"b":2}', start_time: LATE }),
      change('patch', { outputs: '{"second":1}', end_time: LATE, extra: '{}' }),
      change('patch', { tags: '["one"]', name: 'renamed', end_time: EARLY }),
      change('patch', { tags: '["two"]', end_time: EARLY }),
      change('patch', { tags: '["three"]', outputs: '{"early":"and longer than the others"}', end_time: EARLY }),
    ];
    const expected = values(fold(operations));
    expect(expected).toMatchObject({
      name: 'renamed',
      inputs: '{"a":1}',
      outputs: '{"second":1}',
      events: '[]',
      extra: '{"b":2}',
      start_time: EARLY,
      end_time: LATE,
      tags: '["three"]',
    });
    for (const order of permutations(operations)) {
      expect(values(fold(order))).toEqual(expected);
      expect(values(fold([...order, ...order.slice(0, 3)]))).toEqual(expected);
    }
  });

  it('gives the same run for any operations in any order, repetition and grouping', () => {
    const time = fc.constantFrom(EARLY, LATE, '2026-11-20T10:00:05.000000Z');
    const value = fc.constantFrom('{}', '[]', '{"a":1}', '{"b":2}', '{"longer":"than the others"}', 'text');
    const patch = fc
      .record(
        {
          outputs: value,
          extra: value,
          tags: value,
          error: value,
          end_time: time,
          start_time: time,
          project: value,
          dotted_order: fc.constantFrom('a'.repeat(60), 'b'.repeat(60)),
        },
        // Those without one depend on the order of arrival.
        { requiredKeys: ['end_time'] },
      )
      .map((fields) => change('patch', fields));
    // One post: of two that differ the first to arrive stays, by design.
    const post = fc
      .record({ name: value, inputs: value, outputs: value, events: value, end_time: time }, { requiredKeys: ['name'] })
      .map((fields) => change('post', { ...fields, start_time: EARLY, project: 'p' }));
    const operations = fc.tuple(post, fc.array(patch, { maxLength: 6 })).map(([first, rest]) => [first, ...rest]);
    const orders = operations.chain((given) =>
      fc.tuple(
        fc.constant(given),
        fc.shuffledSubarray(given, { minLength: given.length }),
        fc.shuffledSubarray(given),
        fc.nat(given.length),
      ),
    );
    fc.assert(
      fc.property(orders, ([given, order, repeated, split]) => {
        const expected = values(fold(given));
        const all = [...order, ...repeated];
        expect(values(fold(all))).toEqual(expected);
        // As requests do: each folds its own, and the row takes the results.
        expect(values(fold([fold(all.slice(0, split)), fold(all.slice(split))]))).toEqual(expected);
      }),
      { numRuns: 2_000, seed: jest.getSeed() },
    );
  });

  describe('takes a patch without end_time', () => {
    const post = change('post', { outputs: '{}' });
    const end = change('patch', { outputs: '{"end":"of the run"}', end_time: LATE });
    const untimed = (outputs: string, receivedAt: string): RunChange => change('patch', { outputs }, receivedAt);
    const outputsOf = (...operations: RunChange[]): string | undefined => fold(operations).outputs?.value;
    /** Times of receipt by a server whose clock is ahead of the client's, or not. */
    const received = [EARLY, '2026-11-20T10:00:07.000000Z'];

    it.each(received)('received at %s for less than the end that follows it', (time) => {
      expect(outputsOf(post, untimed('{"progress":"longer than the end"}', time), end)).toBe(end.outputs?.value);
    });

    it.each(received)('received at %s for a correction of the end that came before', (time) => {
      const correction = untimed('{"a":1}', time);
      expect(outputsOf(post, end, correction)).toBe('{"a":1}');
      expect(outputsOf(end, correction, post, end)).toBe('{"a":1}');
    });

    it('that is received later for a correction of an earlier one, before and after the end', () => {
      const [first, second] = [untimed('{"longer":1}', EARLY), untimed('{"b":2}', LATE)];
      expect(outputsOf(post, first, second)).toBe('{"b":2}');
      expect(outputsOf(post, end, first, second)).toBe('{"b":2}');
    });

    it('for less than an end that is newer than its receipt', () => {
      const newer = change('patch', { outputs: '{"newer":1}', end_time: '2026-11-20T10:00:08.000000Z' });
      expect(outputsOf(post, end, untimed('{"a":1}', received[1]), newer)).toBe('{"newer":1}');
    });
  });

  it('keeps the first of two posts that differ, unless the second has ended', () => {
    const first = change('post', { inputs: '{"a":1}' });
    expect(values(fold([first, change('post', { inputs: '{"b":2}' })]))).toEqual({ inputs: '{"a":1}' });
    expect(values(fold([first, change('post', { inputs: '{"b":2}', end_time: LATE })]))).toMatchObject({
      inputs: '{"b":2}',
    });
  });

  it('stores only the ranks that differ from those of a plain post', () => {
    const ranksOf = (merged: RunChange): Ranks =>
      Object.fromEntries(Object.entries(merged).map(([field, { rank }]) => [field, rank]));
    expect(encodeRanks(ranksOf(change('post', { name: 'run', inputs: '{"a":1}' })))).toBeNull();
    const merged = ranksOf(change('patch', { outputs: '{"a":1}', end_time: LATE }));
    const encoded = encodeRanks(merged);
    expect(Object.keys(JSON.parse(encoded ?? '{}') as object)).toEqual(['outputs']);
    expect(decodeRanks(encoded, ['outputs', 'end_time'], LATE as Instant)).toEqual(merged);
  });
});
