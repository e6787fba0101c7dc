import fc from 'fast-check';
import { type EventContent, type EventRow, eventsOf, toRows } from './event-rows';

const token = (text: string): string => JSON.stringify([{ content: text }, { langgraph_node: 'say', tags: [] }]);
const messages = (count: number): EventContent[] =>
  Array.from({ length: count }, (_, index) => ({ event: 'messages', data: token(`word-${index} `) }));

/** A row as the table returns it: encoded and decoded. */
const stored = (row: EventRow): EventRow => ({ ...row, data: Buffer.from(row.data).toString() });
const readAll = (rows: EventRow[]): unknown[] => rows.flatMap((row) => eventsOf(stored(row)));

describe('the rows of the event log', () => {
  it('hold several events of the same name, and what they have in common once', () => {
    const events = messages(20);
    const rows = toRows(events, 5);
    expect(rows).toEqual([{ firstSeq: 5, seq: 24, event: 'messages', data: expect.any(String) as string }]);
    expect(rows[0].data.length).toBeLessThan(20 * 4 + token('').length + 20);
    expect(readAll(rows)).toEqual(events.map((event, index) => ({ ...event, seq: 5 + index })));
  });

  it('are read from any event on', () => {
    const [row] = toRows(messages(4), 10);
    const seqs = [-1, 9, 10, 12, 13].map((after) => eventsOf(row, after).map(({ seq }) => seq));
    expect(seqs).toEqual([[10, 11, 12, 13], [10, 11, 12, 13], [11, 12, 13], [13], []]);
  });

  it('hold a single event as it is', () => {
    expect(toRows([{ event: 'values', data: '{"a":1}', fact: 'c' }], 3)).toEqual([
      { firstSeq: null, seq: 3, event: 'values', data: '{"a":1}', fact: 'c' },
    ]);
  });

  it('keep apart events of different names, those with a fact and those of several lines', () => {
    const events: EventContent[] = [
      { event: 'custom', data: '1' },
      { event: 'custom', data: '2' },
      { event: 'messages', data: '3' },
      { event: 'messages', data: '4', fact: 'a' },
      { event: 'messages', data: '5', fact: 'a' },
      { event: 'messages', data: '[\n6]' },
      { event: 'messages', data: '7' },
    ];
    const rows = toRows(events, 0);
    expect(rows.map(({ firstSeq, seq, fact }) => [firstSeq ?? seq, seq, fact])).toEqual([
      [0, 1, undefined],
      [2, 2, undefined],
      [3, 3, 'a'],
      [4, 4, 'a'],
      [5, 5, undefined],
      [6, 6, undefined],
    ]);
  });

  it('are limited in events and in characters', () => {
    const counts = (events: EventContent[]): number[] => toRows(events, 0).map((row) => eventsOf(row).length);
    expect(counts(messages(150))).toEqual([64, 64, 22]);
    const large = Array.from({ length: 5 }, () => ({ event: 'values', data: JSON.stringify('x'.repeat(15_000)) }));
    expect(counts(large)).toEqual([2, 2, 1]);
    expect(counts([{ event: 'values', data: JSON.stringify('x'.repeat(100_000)) }])).toEqual([1]);
  });

  it('give back any texts, character by character', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('a', 'b', '"', '\n', '😀', '😁', '🨀', 'é') }),
    );
    const event = fc.record({
      event: fc.constantFrom('messages', 'custom'),
      data: fc.oneof(
        text.map(token),
        text.map((each) => JSON.stringify(each)),
        text,
      ),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 100 }), fc.nat(), (events, first) => {
        expect(readAll(toRows(events, first))).toEqual(events.map((each, index) => ({ ...each, seq: first + index })));
      }),
      { numRuns: 1_000 },
    );
  });
});
