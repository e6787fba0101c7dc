import { EventAppender, EventsRefused } from './event-appender';
import type { EventLogRepository } from './event-log.repository';
import type { NewRunEvent } from './run-event';

/** Stands in for the table: what is tested here is the batching, and the table has its own tests. */
class RecordingLog {
  readonly writes: NewRunEvent[][] = [];
  refused = new Set<string>();
  failNext = false;
  /** Duration of a write. */
  takesMs = 0;
  /** Resolves the writes that wait; undefined lets them pass at once. */
  gate: Promise<void> | undefined;
  concurrent = 0;
  mostConcurrent = 0;

  async appendEvents(events: NewRunEvent[]): Promise<Set<string>> {
    this.concurrent += 1;
    this.mostConcurrent = Math.max(this.mostConcurrent, this.concurrent);
    try {
      await this.gate;
      if (this.takesMs > 0) await new Promise((resolve) => setTimeout(resolve, this.takesMs));
      if (this.failNext) {
        this.failNext = false;
        throw new Error('The database is away');
      }
      this.writes.push(events);
      return new Set(events.map(({ runId }) => runId).filter((id) => !this.refused.has(id)));
    } finally {
      this.concurrent -= 1;
    }
  }
}

const event = (runId: string, seq: number): NewRunEvent => ({
  runId,
  seq,
  tenantId: 't',
  attempt: 1,
  event: 'values',
  data: '{}',
});

describe('EventAppender', () => {
  let log: RecordingLog;
  let appender: EventAppender;

  beforeEach(() => {
    log = new RecordingLog();
    appender = new EventAppender(log as unknown as EventLogRepository);
  });

  it('writes events that arrive together, of any run, in one statement', async () => {
    await Promise.all([
      appender.appendEvents('a', [event('a', 0), event('a', 1)]),
      appender.appendEvents('b', [event('b', 0)]),
      appender.appendEvents('a', [event('a', 2)]),
    ]);
    expect(log.writes.map((write) => write.map(({ runId, seq }) => `${runId}${seq}`))).toEqual([
      ['a0', 'a1', 'b0', 'a2'],
    ]);
  });

  it('writes the first events after a silence without waiting for more', async () => {
    await appender.appendEvents('a', [event('a', 0)]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const appended = appender.appendEvents('a', [event('a', 1)]);
    // Before any timer can fire.
    await new Promise((resolve) => setImmediate(resolve));
    expect(log.writes).toHaveLength(2);
    await appended;
  });

  it('writes events that may wait with the next ones, or when their time is over', async () => {
    const appends = [appender.appendEvents('a', [event('a', 0)], 10_000)];
    await new Promise((resolve) => setTimeout(resolve, 20));
    appends.push(appender.appendEvents('a', [event('a', 1)]));
    await Promise.all(appends);
    expect(log.writes.map(({ length }) => length)).toEqual([2]);
    await appender.appendEvents('a', [event('a', 2)], 10);
    expect(log.writes).toHaveLength(2);
  });

  it('resolves only when the events are written', async () => {
    let open!: () => void;
    log.gate = new Promise((resolve) => (open = resolve));
    let done = false;
    const appended = appender.appendEvents('a', [event('a', 0)]).then(() => (done = true));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(done).toBe(false);
    open();
    await appended;
    expect(log.writes).toHaveLength(1);
  });

  it('has one write in flight at a time, and batches what arrives meanwhile in order', async () => {
    let open!: () => void;
    log.gate = new Promise((resolve) => (open = resolve));
    const appends = [appender.appendEvents('a', [event('a', 0)])];
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (let seq = 1; seq <= 500; seq += 1) appends.push(appender.appendEvents('a', [event('a', seq)]));
    open();
    log.gate = undefined;
    await Promise.all(appends);
    expect(log.mostConcurrent).toBe(1);
    expect(log.writes.flat().map(({ seq }) => seq)).toEqual(Array.from({ length: 501 }, (_, seq) => seq));
    expect(log.writes.length).toBeLessThan(10);
  });

  it('does not wait for more once a batch is full', async () => {
    const many = Array.from({ length: 64 }, (_, seq) => event('a', seq));
    const appended = appender.appendEvents('a', many);
    // Before any timer can fire.
    await new Promise((resolve) => setImmediate(resolve));
    expect(log.writes).toHaveLength(1);
    await appended;
  });

  it('refuses the events of a run that another attempt owns, and no others', async () => {
    log.refused.add('b');
    const [a, b] = await Promise.allSettled([
      appender.appendEvents('a', [event('a', 0)]),
      appender.appendEvents('b', [event('b', 0)]),
    ]);
    expect(a.status).toBe('fulfilled');
    expect(b).toMatchObject({ status: 'rejected', reason: expect.any(EventsRefused) });
  });

  it('reports a failure to all callers of the batch, and continues with the next', async () => {
    log.failNext = true;
    const failed = await Promise.allSettled([
      appender.appendEvents('a', [event('a', 0)]),
      appender.appendEvents('b', [event('b', 0)]),
    ]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await appender.appendEvents('a', [event('a', 0)]);
    expect(log.writes).toHaveLength(1);
  });

  it('splits what is too large for one statement or one notification', async () => {
    const appends = [
      appender.appendEvents(
        'long',
        Array.from({ length: 4_500 }, (_, seq) => event('long', seq)),
      ),
    ];
    for (let index = 0; index < 450; index += 1)
      appends.push(appender.appendEvents(`r${index}`, [event(`r${index}`, 0)]));
    await Promise.all(appends);
    for (const write of log.writes) {
      expect(write.length).toBeLessThanOrEqual(2_000);
      expect(new Set(write.map(({ runId }) => runId)).size).toBeLessThanOrEqual(200);
    }
    expect(log.writes.flat()).toHaveLength(4_950);
    const long = log.writes.flat().filter(({ runId }) => runId === 'long');
    expect(long.map(({ seq }) => seq)).toEqual(Array.from({ length: 4_500 }, (_, seq) => seq));
  });

  describe('after a write', () => {
    beforeEach(() => jest.useFakeTimers());
    afterEach(() => jest.useRealTimers());

    /** Writes an event of each of some runs, and resolves when they are written. */
    async function write(takesMs: number, runs = 50): Promise<void> {
      log.takesMs = takesMs;
      const appends = Array.from({ length: runs }, (_, run) => appender.appendEvents(`r${run}`, [event(`r${run}`, 0)]));
      await jest.advanceTimersByTimeAsync(takesMs);
      await Promise.all(appends);
      log.takesMs = 0;
    }

    const sizes = (): number[] => log.writes.slice(1).map(({ length }) => length);

    it.each([
      [0, 50, 3],
      [2, 50, 12],
      [4, 50, 24],
      [100, 50, 30],
      [100, 20, 20],
      [100, 1, 3],
    ])('that took %d ms for %d runs, collects events for %d ms', async (takesMs, runs, collectMs) => {
      await write(takesMs, runs);
      const appends = [appender.appendEvents('a', [event('a', 0)])];
      await jest.advanceTimersByTimeAsync(collectMs - 1);
      appends.push(appender.appendEvents('b', [event('b', 0)]));
      expect(log.writes).toHaveLength(1);
      await jest.advanceTimersByTimeAsync(1);
      await Promise.all(appends);
      expect(sizes()).toEqual([2]);
    });

    it('counts the pause from the end of the write, not from the next event', async () => {
      await write(5);
      await jest.advanceTimersByTimeAsync(28);
      const appended = appender.appendEvents('a', [event('a', 0)]);
      await jest.advanceTimersByTimeAsync(3);
      await appended;
      expect(log.writes).toHaveLength(2);
    });

    it('ends the pause when there is much to write', async () => {
      await write(5);
      const appends = Array.from({ length: 1_000 }, (_, seq) => appender.appendEvents('a', [event('a', seq)]));
      await jest.advanceTimersByTimeAsync(0);
      await Promise.all(appends);
      expect(sizes()).toEqual([1_000]);
    });

    it('returns the unwritten events of a run at once, for its end', async () => {
      await write(5);
      const appended = appender.appendEvents('a', [event('a', 0)]);
      expect(await appender.withdraw('a')).toHaveLength(1);
      await appended;
    });
  });

  describe('asked for the unwritten events of a run', () => {
    const seqs = (events: NewRunEvent[]): string[] => events.map(({ runId, seq }) => `${runId}${seq}`);

    it('returns those that are not being written, writes those of other runs, and resolves their appends', async () => {
      const appends = [
        appender.appendEvents('a', [event('a', 0), event('a', 1)]),
        appender.appendEvents('b', [event('b', 0)]),
        appender.appendEvents('a', [event('a', 2)]),
      ];
      expect(seqs(await appender.withdraw('a'))).toEqual(['a0', 'a1', 'a2']);
      await Promise.all(appends);
      expect(log.writes.map(seqs)).toEqual([['b0']]);
    });

    it('returns nothing before the write in flight is committed', async () => {
      let open!: () => void;
      log.gate = new Promise((resolve) => (open = resolve));
      const appends = [appender.appendEvents('a', [event('a', 0)])];
      await new Promise((resolve) => setTimeout(resolve, 20));
      appends.push(appender.appendEvents('a', [event('a', 1)]));
      let rest: string[] | undefined;
      const withdrawn = appender.withdraw('a').then((events) => (rest = seqs(events)));
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(rest).toBeUndefined();
      open();
      await withdrawn;
      expect(rest).toEqual(['a1']);
      await Promise.all(appends);
      expect(log.writes.map(seqs)).toEqual([['a0']]);
    });

    it.each<[string, () => void, (error: unknown) => void]>([
      ['is refused', () => log.refused.add('a'), (error) => expect(error).toBeInstanceOf(EventsRefused)],
      [
        'fails',
        () => (log.failNext = true),
        (error) => expect(error).toMatchObject({ message: 'The database is away' }),
      ],
    ])('fails when the write in flight %s, since the log would have a gap', async (_how, prepare, check) => {
      let open!: () => void;
      log.gate = new Promise((resolve) => (open = resolve));
      prepare();
      const appended = appender.appendEvents('a', [event('a', 0)]);
      await new Promise((resolve) => setTimeout(resolve, 20));
      const outcomes = Promise.allSettled([appender.withdraw('a'), appended]);
      open();
      for (const outcome of await outcomes) check(outcome.status === 'rejected' && outcome.reason);
    });
  });
});
