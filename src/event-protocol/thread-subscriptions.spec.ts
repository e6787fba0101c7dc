import type { TenantId } from '../auth/tenant';
import type { NumberedEvent, ReadAhead, ThreadEventsService } from './thread-events.service';
import { ThreadSubscriptions } from './thread-subscriptions';

const event = (seq: number): NumberedEvent => ({
  seq,
  method: seq % 2 ? 'values' : 'updates',
  namespace: [],
  data: '{}',
});

/** A thread of which everything is there, in batches of one. */
class Log {
  pulled = 0;
  reads: number[] = [];
  isGone = false;
  count = 6;
  /** How many events may be read before a subscription begins. */
  ahead = 0;
  /** How often a reader has waited for the thread. */
  waiting = 0;
  private created = Promise.withResolvers<boolean>();
  private wake: () => void = () => undefined;

  untilReadable(_tenant: TenantId, _thread: string, signal: AbortSignal): Promise<boolean> {
    this.waiting += 1;
    const left = new Promise<boolean>((resolve) => signal.addEventListener('abort', () => resolve(false)));
    return Promise.race([this.created.promise, left]);
  }

  findPositionAfter(_tenant: TenantId, _thread: string, seen = 0): Promise<number> {
    return Promise.resolve(seen);
  }

  readAhead(_tenant: TenantId, _thread: string, position: number): Promise<ReadAhead> {
    const length = Math.min(this.ahead, this.count - position);
    const events = Array.from({ length }, (_, index) => event(position + index + 1));
    const isWhole = position + length === this.count;
    return Promise.resolve({ position, events, isWhole, next: { position: position + length, seq: -1 } });
  }

  async *continue(tenant: TenantId, thread: string, { events, next }: ReadAhead, signal: AbortSignal) {
    if (events.length > 0) yield events;
    yield* this.follow(tenant, thread, next.position, signal);
  }

  async *follow(_tenant: TenantId, _thread: string, position: number, signal: AbortSignal) {
    this.reads.push(position);
    signal.addEventListener('abort', () => this.wake());
    for (let seq = position + 1; !signal.aborted; seq += 1) {
      while (seq > this.count && !signal.aborted) {
        if (this.isGone) return;
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
      if (signal.aborted) return;
      this.pulled += 1;
      yield [event(seq)];
    }
  }

  /** For readers that wait. */
  grow(to: number): void {
    this.count = to;
    this.wake();
  }

  delete(): void {
    this.isGone = true;
    this.wake();
  }

  /** @param refusal of the user; absent for one who may read the thread */
  create(refusal?: Error): void {
    this.isGone = false;
    if (refusal) this.created.reject(refusal);
    else this.created.resolve(true);
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the subscriptions of a WebSocket', () => {
  let log: Log;
  let gone: AbortController;
  let emitted: number[];
  let subscriptions: ThreadSubscriptions;
  /** Set: the client doesn't read. */
  let stalled: Promise<void> | undefined;

  beforeEach(() => {
    log = new Log();
    gone = new AbortController();
    emitted = [];
    stalled = undefined;
    subscriptions = new ThreadSubscriptions(
      log as unknown as ThreadEventsService,
      { tenantId: 'tenant' as TenantId, threadId: 'thread' },
      'node',
      async (events) => {
        emitted.push(...events.map(({ seq }) => seq));
        await stalled;
      },
      gone.signal,
    );
  });

  afterEach(() => gone.abort());

  const subscribe = async (channels: string[], since?: number): Promise<string> => {
    const { id } = await subscriptions.add({ channels }, since, true);
    void subscriptions.beginReading();
    return id;
  };

  it('emit nothing before they begin', async () => {
    await subscriptions.add({ channels: ['values'] }, undefined, true);
    await settle();
    expect([emitted, log.reads]).toEqual([[], []]);
    void subscriptions.beginReading();
    await settle();
    expect(emitted).toEqual([1, 3, 5]);
  });

  it('share one reader, and a new one gets what it missed without repeating events to the others', async () => {
    await subscribe(['values']);
    await settle();
    await subscribe(['values', 'updates'], 3);
    await settle();
    expect(emitted).toEqual([1, 3, 5, 4, 5, 6]);
    log.grow(8);
    await settle();
    expect(emitted.slice(6)).toEqual([7, 8]);
    expect(log.reads).toEqual([0, 3]);
  });

  it('announce how many events follow, and read these once', async () => {
    log.ahead = 10;
    const { replayed } = await subscriptions.add({ channels: ['values'] }, 2, true);
    void subscriptions.beginReading();
    await settle();
    log.grow(8);
    await settle();
    expect([replayed, emitted, log.reads, log.pulled]).toEqual([2, [3, 5, 7], [6], 2]);
    // Of the next subscription the first one gets nothing twice.
    expect((await subscriptions.add({ channels: ['updates'] }, 6, true)).replayed).toBe(1);
    void subscriptions.beginReading();
    await settle();
    expect([emitted, log.reads]).toEqual([
      [3, 5, 7, 8],
      [6, 8],
    ]);
  });

  it('announce no count when too many events follow to be read ahead, and lose none', async () => {
    log.ahead = 2;
    expect((await subscriptions.add({ channels: ['values', 'updates'] }, undefined, true)).replayed).toBeUndefined();
    void subscriptions.beginReading();
    await settle();
    expect([emitted, log.reads]).toEqual([[1, 2, 3, 4, 5, 6], [2]]);
  });

  it('read no further than the client does', async () => {
    let resume!: () => void;
    stalled = new Promise((resolve) => (resume = resolve));
    await subscribe(['values', 'updates']);
    await settle();
    expect([emitted, log.pulled]).toEqual([[1], 1]);
    stalled = undefined;
    resume();
    await settle();
    expect(emitted).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('lose nothing when another one begins while the client is not reading', async () => {
    let resume!: () => void;
    stalled = new Promise((resolve) => (resume = resolve));
    await subscribe(['values', 'updates']);
    await settle();
    await subscribe(['updates'], 5);
    stalled = undefined;
    resume();
    await settle();
    expect(emitted).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('end one by one, and reading ends with the last one', async () => {
    const first = await subscribe(['values']);
    await settle();
    const { id: second } = await subscriptions.add({ channels: ['updates'] }, 6, true);
    const reading = subscriptions.beginReading();
    await reading;
    await settle();
    expect([subscriptions.delete(first), subscriptions.delete(first)]).toEqual([true, false]);
    log.grow(8);
    await settle();
    expect(emitted).toEqual([1, 3, 5, 8]);
    subscriptions.delete(second);
    await settle();
    log.grow(10);
    await settle();
    expect([emitted, log.pulled]).toEqual([[1, 3, 5, 8], 6 + 2]);
  });

  it('end with the socket', async () => {
    await subscriptions.add({ channels: ['values'] }, undefined, true);
    const reading = subscriptions.beginReading();
    await settle();
    gone.abort();
    await reading;
    log.grow(8);
    await settle();
    expect(emitted).toEqual([1, 3, 5]);
  });

  it('outlive their thread, and get all events of the next one with its id once the user was let through to it', async () => {
    const id = await subscribe(['values'], 3);
    await settle();
    log.delete();
    await settle();
    expect([emitted, log.waiting, log.reads]).toEqual([[5], 1, [3]]);
    log.create();
    await settle();
    // Numbers go by the time; these are as low as those of the first thread because the clock of this test stands still.
    expect([emitted, log.reads]).toEqual([
      [5, 1, 3, 5],
      [3, 0],
    ]);
    expect(subscriptions.delete(id)).toBe(true);
  });

  it('are refused with the next thread if that is of another user', async () => {
    await subscriptions.add({ channels: ['values'] }, undefined, true);
    const reading = subscriptions.beginReading();
    await settle();
    log.delete();
    await settle();
    log.create(new Error('Not yours'));
    await expect(reading).rejects.toThrow('Not yours');
    expect(emitted).toEqual([1, 3, 5]);
  });

  it('do not repeat for a later thread what was read ahead of one that is gone', async () => {
    log.ahead = 10;
    await subscribe(['values']);
    await settle();
    const { replayed } = await subscriptions.add({ channels: ['updates'] }, undefined, true);
    expect(replayed).toBe(3);
    log.delete();
    await settle();
    void subscriptions.beginReading();
    await settle();
    log.count = 0;
    log.create();
    await settle();
    expect(emitted).toEqual([1, 3, 5]);
    log.grow(2);
    await settle();
    expect(emitted).toEqual([1, 3, 5, 1, 2]);
  });
});
