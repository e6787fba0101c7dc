import { EagerStarts } from './eager-starts';

const due = (runId: string, tenantId: string) => ({ runId, tenantId });

describe('eager starts', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('are granted while few workflows are waiting', () => {
    const starts = new EagerStarts(2, 0, 1_000);
    expect([starts.give(due('a', 'one')), starts.give(due('b', 'one')), starts.give(due('c', 'one'))]).toEqual([
      true,
      true,
      false,
    ]);
    starts.caughtUp('a');
    expect([starts.give(due('d', 'one')), starts.give(due('e', 'one'))]).toEqual([true, false]);
  });

  it('expire after a moment, the oldest first', () => {
    const starts = new EagerStarts(2, 0, 1_000);
    starts.give(due('a', 'one'));
    jest.advanceTimersByTime(600);
    starts.give(due('b', 'one'));
    jest.advanceTimersByTime(600);
    expect([starts.give(due('c', 'one')), starts.give(due('d', 'one'))]).toEqual([true, false]);
  });

  it('ignore a workflow that has already caught up', () => {
    const starts = new EagerStarts(1, 0, 1_000);
    starts.caughtUp('a');
    expect(starts.give(due('a', 'one'))).toBe(true);
  });

  it('are given later to runs that had to wait, oldest first, until these have workflows', () => {
    const starts = new EagerStarts(1, 0, 1_000);
    expect(['a', 'b', 'c'].map((run) => starts.give(due(run, 'one')))).toEqual([true, false, false]);
    expect(starts.next()).toBeUndefined();
    starts.caughtUp('a');
    expect(starts.next()).toEqual(due('b', 'one'));
    expect(starts.next()).toBeUndefined();
    jest.advanceTimersByTime(1_000);
    starts.caughtUp('b');
    expect(starts.next()).toBeUndefined();
  });

  it('are reserved for each tenant when another has taken all the shared ones', () => {
    const starts = new EagerStarts(3, 1, 1_000);
    expect(['a', 'b', 'c', 'd'].map((run) => starts.give(due(run, 'one')))).toEqual([true, true, true, false]);
    expect([starts.give(due('e', 'two')), starts.give(due('f', 'two')), starts.give(due('g', 'three'))]).toEqual([
      true,
      false,
      true,
    ]);
    starts.caughtUp('e');
    expect(starts.give(due('f', 'two'))).toBe(true);
  });

  it('are given to a tenant without another run here, however many it has just had', () => {
    const starts = new EagerStarts(3, 1, 1_000);
    for (const run of ['a', 'b', 'c']) starts.give(due(run, 'one'));
    for (const run of ['e', 'f', 'g']) {
      expect(starts.give(due(run, 'two'))).toBe(true);
      expect(starts.give(due(`${run} at the same time`, 'three'))).toBe(run === 'e');
      starts.over(run);
    }
    // One that waits comes before those that follow it.
    starts.over('a');
    expect(['d', 'h'].map((run) => starts.give(due(run, 'one')))).toEqual([false, false]);
  });

  it('are given to a run that the limits allow before one that waits for longer', () => {
    const starts = new EagerStarts(2, 1, 1_000);
    for (const run of ['a', 'b', 'c']) starts.give(due(run, 'one'));
    expect([starts.give(due('d', 'two')), starts.give(due('e', 'two'))]).toEqual([true, false]);
    starts.caughtUp('d');
    expect(starts.next()).toEqual(due('e', 'two'));
    expect(starts.next()).toBeUndefined();
  });
});
