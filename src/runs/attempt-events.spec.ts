import { EventAppender } from '../streams/event-appender';
import type { EventLogRepository } from '../streams/event-log.repository';
import type { NewRunEvent } from '../streams/run-event';
import { AttemptEvents } from './attempt-events';
import type { RunEntity } from './run.entity';

const RUN = { runId: 'run', tenantId: 'tenant', attempt: 2, kwargs: {} } as RunEntity;
const message = (data: string) => ({ event: 'values', data });

describe('AttemptEvents', () => {
  let written: NewRunEvent[];
  let failure: Error | undefined;
  let events: AttemptEvents;

  beforeEach(() => {
    written = [];
    failure = undefined;
    const append = async (batch: NewRunEvent[]): Promise<Set<string>> => {
      if (failure) throw failure;
      written.push(...batch);
      return new Set(['run']);
    };
    events = new AttemptEvents(new EventAppender({ appendEvents: append } as unknown as EventLogRepository), RUN, 7);
  });

  it('continues the numbering of the log, and writes for its own attempt', async () => {
    void events.append([message('a'), message('b')]);
    void events.append([message('c')]);
    await events.written();
    expect(written.map(({ seq, data, attempt }) => `${seq}${data}${attempt}`)).toEqual(['7a2', '8b2', '9c2']);
  });

  it('returns the events that are not being written, with their numbers', async () => {
    await events.append([message('a')]);
    const write = events.append([message('b')]);
    expect(await events.rest()).toMatchObject([{ seq: 8, data: 'b' }]);
    await write;
    expect(written).toHaveLength(1);
  });

  it('returns no events after some could not be written, however many followed', async () => {
    failure = new Error('The database is away');
    await expect(events.append([message('a')])).rejects.toThrow('The database is away');
    failure = undefined;
    await events.append([message('b')]);
    void events.append([message('c')]);
    await expect(events.rest()).rejects.toThrow('The database is away');
    await expect(events.written()).rejects.toThrow('The database is away');
  });
});
