import type { TenantId } from '../auth/tenant';
import type { ThreadLog } from '../runs/thread-log';
import type { StartedRun, ThreadPositionsRepository } from '../runs/thread-positions.repository';
import type { EventLogRepository } from '../streams/event-log.repository';
import { END_EVENT, type RunEvent } from '../streams/run-event';
import type { ThreadsService } from '../threads/threads.service';
import { type ReadAhead, ThreadEventsService } from './thread-events.service';

const TENANT = 'tenant' as TenantId;
const THREAD = 'thread';

const values = (count: number): Omit<RunEvent, 'seq'> => ({ event: 'values', data: `{"count":${count}}` });
const END = { event: END_EVENT, data: '{"status":"success","result":{}}' };

/** A thread whose runs end and begin while it is read. */
class Records {
  readonly runs: StartedRun[] = [];
  private readonly logs = new Map<string, RunEvent[]>();
  /** Changes after the next reads of a log, in their order. */
  readonly changes: (() => void)[] = [];

  start(runId: string): void {
    this.runs.push({ runId, graphId: 'graph', position: (this.runs.length + 1) * 1_000 });
    this.logs.set(runId, []);
    this.append(runId, { event: 'metadata', data: '{}' });
  }

  append(runId: string, ...events: Omit<RunEvent, 'seq'>[]): void {
    const log = this.logs.get(runId)!;
    for (const event of events) log.push({ ...event, seq: log.length });
  }

  findStartedRun(_tenant: TenantId, _thread: string, from: number): Promise<StartedRun | null> {
    return Promise.resolve(this.runs.find(({ position }) => position >= from) ?? null);
  }

  async *readAll(runId: string, after = -1): AsyncGenerator<RunEvent[]> {
    const page = this.logs.get(runId)!.slice(after + 1);
    await Promise.resolve();
    this.changes.shift()?.();
    if (page.length > 0) yield page;
  }
}

describe('events that are read ahead', () => {
  let records: Records;

  beforeEach(() => {
    records = new Records();
    records.start('first');
    records.append('first', values(1));
  });

  const read = (): Promise<ReadAhead> => {
    const service = new ThreadEventsService(
      {} as ThreadLog,
      records as unknown as EventLogRepository,
      records as unknown as ThreadPositionsRepository,
      {} as ThreadsService,
    );
    return service.readAhead(TENANT, THREAD, 0);
  };

  const summaryOf = ({ events }: ReadAhead): string[] =>
    events.map(({ method, data }) =>
      method === 'lifecycle'
        ? (JSON.parse(data) as { event: string }).event
        : `${method} ${(JSON.parse(data) as { count: number }).count}`,
    );

  it('continue in a run that has not ended', async () => {
    const ahead = await read();
    expect([summaryOf(ahead), ahead.isWhole, ahead.next]).toEqual([
      ['running', 'values 1'],
      true,
      { position: 1_000, seq: 1 },
    ]);
  });

  it('are those of every run, and continue after the last one once it has ended', async () => {
    records.append('first', END);
    records.start('second');
    records.append('second', values(2), END);
    const ahead = await read();
    expect(summaryOf(ahead)).toEqual(['running', 'values 1', 'completed', 'running', 'values 2', 'completed']);
    expect([ahead.isWhole, ahead.next]).toEqual([true, { position: 2_001, seq: -1 }]);
  });

  it('have the end of a run that ends, and makes room for the next one, while they are read', async () => {
    records.changes.push(() => {
      records.append('first', values(2), END);
      records.start('second');
      records.append('second', values(3));
    });
    const ahead = await read();
    expect(summaryOf(ahead)).toEqual(['running', 'values 1', 'values 2', 'completed', 'running', 'values 3']);
    expect(ahead.events.map(({ seq }) => seq)).toEqual([1_001, 1_002, 1_003, 1_004, 2_001, 2_002]);
    expect([ahead.isWhole, ahead.next]).toEqual([true, { position: 2_000, seq: 1 }]);
  });

  it('leave a run whose events have expired', async () => {
    records.start('second');
    records.append('second', values(2), END);
    const ahead = await read();
    expect(summaryOf(ahead)).toEqual(['running', 'values 1', 'running', 'values 2', 'completed']);
    expect(ahead.next).toEqual({ position: 2_001, seq: -1 });
  });

  it.each(['before its end', 'in what came while it was read'])('stop at the limit within a run %s', async (where) => {
    const many = Array.from({ length: 1_100 }, (_, index) => values(index));
    const isLater = where !== 'before its end';
    if (!isLater) records.append('first', ...many);
    records.changes.push(() => {
      if (isLater) records.append('first', ...many, END);
      records.start('second');
    });
    const { isWhole, run, next } = await read();
    const place = isLater ? { position: 1_001, seq: -1 } : { position: 1_000, seq: 1_101 };
    expect([isWhole, run?.run.runId, next]).toEqual([false, 'first', place]);
  });
});
