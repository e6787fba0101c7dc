import { Client } from '@langchain/langgraph-sdk';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { ThreadEventsService } from '../../src/event-protocol/thread-events.service';
import { EventLogRepository } from '../../src/streams/event-log.repository';
import { END_EVENT, END_HINT, RUN_EVENTS_CHANNEL } from '../../src/streams/run-event';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { type SocketEvent, socketUrl, ThreadSocket } from '../support/thread-socket';
import { waitFor } from '../support/wait-for';

const END = JSON.stringify({ status: 'success', result: {} });

/** No worker is there: runs begin, emit and end when a test says so. */
describe('subscriptions of a WebSocket', () => {
  let api: TestApi;
  let client: Client;
  let sql: DataSource;

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
    client = new Client({ apiUrl: api.url, apiKey: null, callerOptions: { maxRetries: 0 } });
    sql = api.app.get<DataSource>(getDataSourceToken());
  });

  afterEach(() => jest.restoreAllMocks());
  afterAll(() => api?.close());

  const open = (thread: string): Promise<ThreadSocket> => ThreadSocket.open(socketUrl(api.url, thread));

  const create = async (socket: ThreadSocket): Promise<string> =>
    String((await socket.command('run.start', { assistant_id: 'three', input: {} })).result?.run_id);

  const append = (runId: string, event: string, data: string, mark = ''): Promise<unknown> =>
    sql.query(
      `WITH written AS (
         INSERT INTO run_events (run_id, tenant_id, event, data, seq)
         SELECT $1, $2, $3, $4, coalesce(max(seq), -1) + 1 FROM run_events WHERE run_id = $1
       )
       SELECT pg_notify('${RUN_EVENTS_CHANNEL}', $1::uuid::text || $5)`,
      [runId, api.config.auth.defaultTenantId, event, data, mark],
    );

  async function begin(runId: string): Promise<void> {
    await sql.query(
      `UPDATE runs SET status = 'running', attempt = 1, started_at = clock_timestamp() WHERE run_id = $1`,
      [runId],
    );
    await append(runId, 'metadata', '{}');
  }

  async function end(runId: string): Promise<void> {
    await append(runId, 'values', '{"last":true}');
    await sql.query(`UPDATE runs SET status = 'success', ended_at = now() WHERE run_id = $1`, [runId]);
    await append(runId, END_EVENT, END, END_HINT);
  }

  const kindOf = ({ method, params }: SocketEvent): unknown => (method === 'lifecycle' ? params.data.event : method);

  it('have the end of a run that ends while they begin', async () => {
    const { thread_id: thread } = await client.threads.create();
    const socket = await open(thread);
    const [first, second] = [await create(socket), await create(socket)];
    await begin(first);
    const log = api.app.get(EventLogRepository, { strict: false });
    const { readMany } = EventLogRepository.prototype;
    jest.spyOn(log, 'readMany').mockImplementationOnce(async (queries) => {
      const pages = await readMany.call(log, queries);
      await end(first);
      await begin(second);
      return pages;
    });
    const { result } = await socket.command('subscription.subscribe', { channels: ['values', 'lifecycle'] });
    await end(second);
    await waitFor('the end of the second run', () => socket.events.filter((each) => kindOf(each) === 'completed')[1]);
    expect(socket.events.map(kindOf)).toEqual([
      ...['running', 'values', 'completed'],
      ...['running', 'values', 'completed'],
    ]);
    expect(result?.replayed_events).toBe(4);
    await socket.close();
  });

  it('outlive their thread: events of the next one with its id follow', async () => {
    const thread = uuidv7();
    await client.threads.create({ threadId: thread });
    const socket = await open(thread);
    const waits = jest.spyOn(api.app.get(ThreadEventsService, { strict: false }), 'untilReadable');
    await socket.subscribe({ channels: ['lifecycle'] });
    const first = await create(socket);
    await begin(first);
    await end(first);
    await socket.until((event) => kindOf(event) === 'completed');
    expect(waits).not.toHaveBeenCalled();

    await client.threads.delete(thread);
    await waitFor('the reader to notice', () => waits.mock.calls.length > 0);
    const next = await create(socket);
    await begin(next);
    await waitFor('an event of the new thread', () => socket.events.length === 3);
    await end(next);
    await waitFor('the end of the run', () => socket.events.length === 4);
    expect(socket.events.map(kindOf)).toEqual(['running', 'completed', 'running', 'completed']);
    // It waits for the thread once, however long that takes.
    expect(waits).toHaveBeenCalledTimes(1);
    await socket.close();
  });
});
