import { setImmediate as turn } from 'node:timers/promises';
import { SuspectSlots } from './suspect-slots';

describe('suspect slots', () => {
  const signal = new AbortController().signal;
  let slots: SuspectSlots;
  let admitted: string[];
  let releases: Map<string, () => void>;

  beforeEach(() => {
    slots = new SuspectSlots(2);
    admitted = [];
    releases = new Map();
  });

  async function ask(name: string, tenantId: string, given = signal): Promise<void> {
    void slots.take(tenantId, given).then((release) => {
      admitted.push(name);
      releases.set(name, release);
    });
    await turn();
  }

  async function release(name: string): Promise<void> {
    releases.get(name)!();
    await turn();
  }

  it('keep one free for another tenant', async () => {
    await ask('a1', 'a');
    await ask('a2', 'a');
    await ask('b1', 'b');
    expect(admitted).toEqual(['a1', 'b1']);
    await release('b1');
    expect(admitted).toEqual(['a1', 'b1']);
    await release('a1');
    expect(admitted).toEqual(['a1', 'b1', 'a2']);
  });

  it('admit in order of arrival, except for tenants that have used up their share', async () => {
    await ask('a1', 'a');
    await ask('b1', 'b');
    await ask('a2', 'a');
    await ask('c1', 'c');
    await release('b1');
    expect(admitted).toEqual(['a1', 'b1', 'c1']);
    await release('a1');
    expect(admitted).toEqual(['a1', 'b1', 'c1', 'a2']);
  });

  it('admit an aborted caller at once, and remove it from the queue', async () => {
    const abort = new AbortController();
    await ask('a1', 'a');
    await ask('a2', 'a', abort.signal);
    expect(admitted).toEqual(['a1']);
    abort.abort();
    await turn();
    expect(admitted).toEqual(['a1', 'a2']);
    await release('a2');
    await release('a1');
    await ask('a3', 'a');
    expect(admitted).toEqual(['a1', 'a2', 'a3']);
  });
});
