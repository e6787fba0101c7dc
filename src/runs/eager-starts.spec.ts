import { EagerStarts } from './eager-starts';

const due = (runId: string, tenantId: string, isStreamed = false) => ({ runId, tenantId, isStreamed });
const limits = (others: number, ofEachTenant = 0, streamed = 0) => ({ streamed, others, ofEachTenant });

describe('eager starts', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('are granted while few runs keep the worker busy', () => {
    const starts = new EagerStarts(limits(2), 1_000, () => true);
    expect([starts.give(due('a', 'one')), starts.give(due('b', 'one')), starts.give(due('c', 'one'))]).toEqual([
      true,
      true,
      false,
    ]);
    starts.over('a');
    expect([starts.give(due('d', 'one')), starts.give(due('e', 'one'))]).toEqual([true, false]);
  });

  it('are given later to runs that had to wait, oldest first, until others do it', () => {
    const starts = new EagerStarts(limits(1), 1_000, () => true);
    expect(['a', 'b', 'c'].map((run) => starts.give(due(run, 'one')))).toEqual([true, false, false]);
    expect(starts.next()).toBeUndefined();
    starts.over('a');
    expect(starts.next()).toEqual(due('b', 'one'));
    expect(starts.next()).toBeUndefined();
    jest.advanceTimersByTime(1_000);
    starts.over('b');
    expect(starts.next()).toBeUndefined();
  });

  it('are given to waiting runs once the older ones keep no processor busy', () => {
    const starts = new EagerStarts(limits(2), 1_000, () => true);
    starts.give(due('a', 'one'));
    jest.advanceTimersByTime(50);
    starts.give(due('b', 'one'));
    expect(starts.isWaiting).toBe(false);
    for (const run of ['c', 'd']) starts.give(due(run, 'one'));
    expect(starts.isWaiting).toBe(true);
    starts.overSince(50);
    expect([starts.next(), starts.next()]).toEqual([due('c', 'one'), undefined]);
    jest.advanceTimersByTime(1_000);
    expect(starts.isWaiting).toBe(false);
  });

  it('are reserved for each tenant when another has taken all the shared ones', () => {
    const starts = new EagerStarts(limits(3, 1), 1_000, () => true);
    expect(['a', 'b', 'c', 'd'].map((run) => starts.give(due(run, 'one')))).toEqual([true, true, true, false]);
    expect([starts.give(due('e', 'two')), starts.give(due('f', 'two')), starts.give(due('g', 'three'))]).toEqual([
      true,
      false,
      true,
    ]);
    starts.over('e');
    expect(starts.give(due('f', 'two'))).toBe(true);
  });

  it('wait for a slot of the worker, without delaying those that have one', () => {
    const slots = new Set(['two']);
    const starts = new EagerStarts(limits(2), 1_000, (tenantId) => slots.has(tenantId));
    expect([starts.give(due('a', 'one')), starts.give(due('b', 'two'))]).toEqual([false, true]);
    expect(starts.next()).toBeUndefined();
    slots.add('one');
    expect(starts.next()).toEqual(due('a', 'one'));
    expect(starts.isWaiting).toBe(false);
  });

  it('have a limit of their own for runs whose events are read as they come', () => {
    const starts = new EagerStarts(limits(1, 0, 2), 1_000, () => true);
    expect(['a', 'b', 'c'].map((run) => starts.give(due(run, 'one', true)))).toEqual([true, true, false]);
    expect(['d', 'e'].map((run) => starts.give(due(run, 'one')))).toEqual([true, false]);
    starts.over('b');
    expect([starts.next(), starts.next()]).toEqual([due('c', 'one', true), undefined]);
    starts.over('d');
    expect(starts.next()).toEqual(due('e', 'one'));
  });

  it('are given to a run that the limits allow before one that waits for longer', () => {
    const starts = new EagerStarts(limits(2, 1), 1_000, () => true);
    for (const run of ['a', 'b', 'c']) starts.give(due(run, 'one'));
    expect([starts.give(due('d', 'two')), starts.give(due('e', 'two'))]).toEqual([true, false]);
    starts.over('d');
    expect(starts.next()).toEqual(due('e', 'two'));
    expect(starts.next()).toBeUndefined();
  });
});
