import type { DataSource } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import type { Notifications } from '../database/notifications';
import type { EventLogRepository, EventPage } from '../streams/event-log.repository';
import { EventReader } from '../streams/event-reader';
import { END_EVENT, END_HINT, RUN_EVENTS_CHANNEL } from '../streams/run-event';
import type { RunsService } from './runs.service';
import { ThreadLog } from './thread-log';
import { ThreadPositionsRepository } from './thread-positions.repository';

const TENANT = 'tenant' as TenantId;
const READERS = 100;
const HINTS = 30;

/** What the database has of threads and runs, and how many statements read it. */
class Records {
  statements = 0;
  readonly threads = new Set<string>();
  readonly runs: { run_id: string; graph_id: string; thread: string; position: number }[] = [];

  /** Answers in place of Postgres. */
  query(_sql: string, [, threads, positions]: [string[], string[], number[]]): Promise<unknown[]> {
    this.statements += 1;
    const rows = threads.map((thread, index) => {
      const run = this.runs.find((each) => each.thread === thread && each.position >= positions[index]);
      return { is_there: this.threads.has(thread), run_id: null, ...run };
    });
    return Promise.resolve(rows);
  }

  start(thread: string, runId: string): void {
    this.runs.push({ run_id: runId, graph_id: 'graph', thread, position: this.runs.length + 1 });
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the log of a thread', () => {
  let records: Records;
  let log: ThreadLog;
  let gone: AbortController;
  let notify: (payload: string) => void;
  /** Runs that readers had, each with the number of its events. */
  let seen: string[];

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    records = new Records();
    gone = new AbortController();
    seen = [];
    const notifications = {
      subscribe: (channel: string, listener: (payload: string) => void) => {
        if (channel === RUN_EVENTS_CHANNEL) notify = listener;
        return Promise.resolve(() => undefined);
      },
    } as unknown as Notifications;
    const ended: EventPage = { events: [{ seq: 0, event: END_EVENT, data: '{}' }], isLast: true };
    const events = { readMany: (queries: unknown[]) => Promise.resolve(queries.map(() => ended)) };
    const reader = new EventReader(events as unknown as EventLogRepository, notifications);
    const positions = new ThreadPositionsRepository(records as unknown as DataSource);
    log = new ThreadLog(reader, {} as RunsService, positions, notifications);
    await reader.onModuleInit();
    await log.onModuleInit();
  });

  afterEach(() => {
    gone.abort();
    jest.useRealTimers();
  });

  const follow = async (thread: string): Promise<string> => {
    for await (const news of log.follow(TENANT, thread, { position: 0, seq: -1 }, gone.signal)) {
      if ('run' in news) seen.push(`${thread} ${news.run.runId}`);
    }
    return 'ended';
  };

  /** Opens idle readers, each of a thread of its own. */
  const followIdle = async (): Promise<void> => {
    for (let index = 0; index < READERS; index += 1) {
      records.threads.add(`idle ${index}`);
      void follow(`idle ${index}`);
    }
    await settle();
  };

  it('is looked up for all idle readers together, and not for every event of other runs', async () => {
    await followIdle();
    expect(records.statements).toBe(1);
    for (let count = 0; count < HINTS; count += 1) {
      notify('busy');
      await settle();
    }
    // The first one alone may be that of a run on any thread.
    expect(records.statements).toBe(2);
    notify(`busy${END_HINT}`);
    await settle();
    expect(records.statements).toBe(3);
    jest.advanceTimersByTime(1_000);
    await settle();
    expect(records.statements).toBe(4);
  });

  it('has a new run at its first hint, one among those of known runs too, and the next one after the end', async () => {
    await followIdle();
    notify('busy');
    await settle();
    records.start('idle 7', 'first');
    notify('busy,first');
    await settle();
    expect(seen).toEqual(['idle 7 first']);
    // A run that was cancelled while it was queued gets its place when the one ahead of it ends, and no hint of its own then.
    notify('queued');
    await settle();
    records.start('idle 8', 'queued');
    notify(`busy${END_HINT}`);
    await settle();
    expect(seen).toEqual(['idle 7 first', 'idle 8 queued']);
  });

  it('has a run whose hints were lost within a second', async () => {
    await followIdle();
    records.start('idle 3', 'unannounced');
    jest.advanceTimersByTime(1_000);
    await settle();
    expect(seen).toEqual(['idle 3 unannounced']);
  });

  it('ends with its thread, and begins with it', async () => {
    const created = log.whenThere(TENANT, 'thread', gone.signal);
    await settle();
    records.threads.add('thread');
    notify('run of the new thread');
    expect(await created).toBe(true);

    const following = follow('thread');
    await settle();
    records.threads.delete('thread');
    jest.advanceTimersByTime(1_000);
    expect(await following).toBe('ended');
  });
});
