import { HostGate, Leave, Turn } from './host-gate';

function admitted(turn: Turn): Leave {
  if (!('leave' in turn)) throw new Error('was sent away');
  return turn.leave;
}

function sentAway(turn: Turn): number {
  if (!('comeBackInMs' in turn)) throw new Error('was let in');
  return turn.comeBackInMs;
}

describe('host gate', () => {
  afterEach(() => jest.useRealTimers());

  it('admits the given number, makes a few wait and rejects the others', async () => {
    const gate = new HostGate(2, 5_000, 1);
    const first = admitted(await gate.enter('a'));
    admitted(await gate.enter('a'));
    const waiting = gate.enter('a');
    sentAway(await gate.enter('a'));
    admitted(await gate.enter('b'));
    first(true);
    admitted(await waiting);
  });

  it('rejects a caller that waited too long, and frees its place', async () => {
    const gate = new HostGate(1, 10);
    const first = admitted(await gate.enter('a'));
    sentAway(await gate.enter('a'));
    first(true);
    admitted(await gate.enter('a'));
  });

  it('limits a host that does not answer to one attempt at a time, until it answers', async () => {
    const gate = new HostGate(2, 5_000, 2);
    const first = admitted(await gate.enter('a'));
    const second = admitted(await gate.enter('a'));
    const waiting = gate.enter('a');
    first(false);
    sentAway(await waiting);
    sentAway(await gate.enter('a'));
    second(false);
    const probe = admitted(await gate.enter('a'));
    sentAway(await gate.enter('a'));
    probe(true);
    admitted(await gate.enter('a'));
    admitted(await gate.enter('a'));
  });

  it('spaces the callers that it rejects by the duration of an attempt, up to five minutes', async () => {
    jest.useFakeTimers();
    const gate = new HostGate(1, 0, 0);
    for (let index = 0; index < 20; index += 1) {
      const leave = admitted(await gate.enter('dead'));
      jest.advanceTimersByTime(15_000);
      leave(false);
    }
    admitted(await gate.enter('dead'));
    const waits: number[] = [];
    for (let index = 0; index < 1_000; index += 1) waits.push(sentAway(await gate.enter('dead')));
    expect(waits.slice(0, 3).map((ms) => Math.round(ms / 1000))).toEqual([15, 30, 45]);
    expect(Math.max(...waits)).toBeLessThanOrEqual(300_000);
    expect(Math.min(...waits.slice(100))).toBeGreaterThanOrEqual(150_000);
  });

  it('admits new callers at once after the host has recovered', async () => {
    const gate = new HostGate(2, 5_000, 0);
    const first = admitted(await gate.enter('a'));
    first(false);
    const probe = admitted(await gate.enter('a'));
    for (let index = 0; index < 10; index += 1) sentAway(await gate.enter('a'));
    probe(true);
    const next = admitted(await gate.enter('a'));
    admitted(await gate.enter('a'));
    expect(sentAway(await gate.enter('a'))).toBeLessThanOrEqual(1_000);
    next(true);
  });
});
