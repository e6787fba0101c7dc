import { RunSlots } from './run-slots';

describe('run slots', () => {
  const never = new AbortController().signal;

  it('are as many as the limit', () => {
    const slots = new RunSlots(2, 0);
    expect([slots.tryTake(), slots.tryTake(), slots.tryTake()]).toEqual([true, true, false]);
    slots.release();
    expect([slots.tryTake(), slots.tryTake()]).toEqual([true, false]);
  });

  it('are granted to waiting callers in order, before new ones', async () => {
    const slots = new RunSlots(1, 0);
    await slots.take(never);
    const got: string[] = [];
    const first = slots.take(never).then(() => got.push('first'));
    const second = slots.take(never).then(() => got.push('second'));
    slots.release();
    await first;
    expect(got).toEqual(['first']);
    expect(slots.tryTake()).toBe(false);
    slots.release();
    await second;
    expect(got).toEqual(['first', 'second']);
  });

  it('are not lost to callers that gave up waiting', async () => {
    const slots = new RunSlots(1, 0);
    await slots.take(never);
    const impatient = new AbortController();
    const waiting = slots.take(impatient.signal);
    impatient.abort();
    await expect(waiting).rejects.toThrow('aborted');
    await expect(slots.take(impatient.signal)).rejects.toThrow('aborted');
    slots.release();
    expect(slots.tryTake()).toBe(true);
  });

  it('include reserved ones for tenants that have none, which the tenant that holds all others cannot take', () => {
    const slots = new RunSlots(2, 1);
    const held = [slots.tryTakeFor('one'), slots.tryTakeFor('one')];
    expect(held).not.toContain(undefined);
    expect(slots.tryTakeFor('one')).toBeUndefined();
    const other = slots.tryTakeFor('two');
    expect(other).toBeDefined();
    expect([slots.tryTakeFor('two'), slots.tryTakeFor('three')]).toEqual([undefined, undefined]);
    other!.release();
    expect(slots.tryTake()).toBe(false);
    const third = slots.tryTakeFor('three');
    expect(third).toBeDefined();
    held[0]!.release();
    expect(slots.tryTakeFor('two')).toBeDefined();
    third!.release();
    expect(slots.tryTake()).toBe(false);
  });

  it('show whether one is free for a tenant, and when that may have changed', () => {
    const slots = new RunSlots(1, 1);
    const free: boolean[][] = [];
    const look = (): void => void free.push(['one', 'two'].map((tenant) => slots.isFreeFor(tenant)));
    slots.onRelease = look;
    look();
    const first = slots.tryTakeFor('one');
    look();
    const second = slots.tryTakeFor('two');
    look();
    second!.release();
    first!.release();
    expect(free).toEqual([
      [true, true],
      [false, true],
      [false, false],
      [false, true],
      [true, true],
    ]);
  });

  it('include no reserved one for a tenant that may hold a slot whose tenant is not known yet', () => {
    const slots = new RunSlots(1, 1);
    expect(slots.tryTakeFor(undefined)).toBeDefined();
    expect(slots.tryTakeFor('one')).toBeUndefined(); // it may be the one that has the slot
    const known = slots.countTenant('one');
    expect(slots.tryTakeFor('one')).toBeUndefined();
    expect(slots.tryTakeFor('two')).toBeDefined();
    known.release();
  });
});
