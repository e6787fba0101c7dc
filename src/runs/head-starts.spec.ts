import { HeadStarts } from './head-starts';

describe('head starts', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('are given while few workflows are behind', () => {
    const starts = new HeadStarts(2, 1_000);
    expect([starts.give('a'), starts.give('b'), starts.give('c')]).toEqual([true, true, false]);
    starts.caughtUp('a');
    expect([starts.give('d'), starts.give('e')]).toEqual([true, false]);
  });

  it('are forgotten after a moment, the oldest first', () => {
    const starts = new HeadStarts(2, 1_000);
    starts.give('a');
    jest.advanceTimersByTime(600);
    starts.give('b');
    jest.advanceTimersByTime(600);
    expect([starts.give('c'), starts.give('d')]).toEqual([true, false]);
  });

  it('take no notice of a workflow that came first, or to nobody', () => {
    const starts = new HeadStarts(1, 1_000);
    starts.caughtUp('a');
    expect(starts.give('a')).toBe(true);
  });
});
