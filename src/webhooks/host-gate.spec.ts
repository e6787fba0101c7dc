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

  it('lets the given number in, makes a few wait and sends the others away', async () => {
    const gate = new HostGate(2, 5_000, 1);
    const first = admitted(await gate.enter('a'));
    admitted(await gate.enter('a'));
    const waiting = gate.enter('a');
    sentAway(await gate.enter('a'));
    admitted(await gate.enter('b'));
    first(true);
    admitted(await waiting);
  });

  it('sends away who waited too long, and the place stays free for others', async () => {
    const gate = new HostGate(1, 10);
    const first = admitted(await gate.enter('a'));
    sentAway(await gate.enter('a'));
    first(true);
    admitted(await gate.enter('a'));
  });

  it('takes a host that does not answer down to one attempt at a time, until it answers', async () => {
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

  it('gives those it sends away places as far apart as an attempt takes, five minutes off at most', async () => {
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

  it('lets those in at once who come after the host is well again', async () => {
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
