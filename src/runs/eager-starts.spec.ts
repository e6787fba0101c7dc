import { EagerStarts } from './eager-starts';

describe('eager starts', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('are granted while few workflows are waiting', () => {
    const starts = new EagerStarts(2, 0, 1_000);
    expect([starts.give('a', 'one'), starts.give('b', 'one'), starts.give('c', 'one')]).toEqual([true, true, false]);
    starts.caughtUp('a');
    expect([starts.give('d', 'one'), starts.give('e', 'one')]).toEqual([true, false]);
  });

  it('expire after a moment, the oldest first', () => {
    const starts = new EagerStarts(2, 0, 1_000);
    starts.give('a', 'one');
    jest.advanceTimersByTime(600);
    starts.give('b', 'one');
    jest.advanceTimersByTime(600);
    expect([starts.give('c', 'one'), starts.give('d', 'one')]).toEqual([true, false]);
  });

  it('ignore a workflow that has already caught up', () => {
    const starts = new EagerStarts(1, 0, 1_000);
    starts.caughtUp('a');
    expect(starts.give('a', 'one')).toBe(true);
  });

  it('are reserved for each tenant when another has taken all the shared ones', () => {
    const starts = new EagerStarts(3, 1, 1_000);
    expect(['a', 'b', 'c', 'd'].map((run) => starts.give(run, 'one'))).toEqual([true, true, true, false]);
    expect([starts.give('e', 'two'), starts.give('f', 'two'), starts.give('g', 'three')]).toEqual([true, false, true]);
    starts.caughtUp('e');
    expect(starts.give('f', 'two')).toBe(true);
  });
});
