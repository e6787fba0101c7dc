import { getDataSourceToken } from '@nestjs/typeorm';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { RunCreationRepository } from '../../src/runs/run-creation.repository';
import { type DueRun, parseDue, RUN_DUE_CHANNEL } from '../../src/streams/run-event';
import { AgentCaller, toMessage } from '../support/a2a';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { registerNamespace } from '../support/temporal';
import { waitFor } from '../support/wait-for';

const RUNS = 80;

interface IndexUse {
  index: string;
  scans: number;
  entries: number;
}

describe('the insert of a run', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS, TEMPORAL_NAMESPACE: await registerNamespace() });
  });
  afterAll(() => api?.close());

  const request = async (path: string, body: unknown, signal?: AbortSignal): Promise<Response> => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) };
    const response = await fetch(api.url + path, init);
    expect(response.status).toBe(200);
    return response;
  };

  const post = async (path: string, body: unknown): Promise<{ thread_id: string; run_id: string }> =>
    (await (await request(path, body)).json()) as { thread_id: string; run_id: string };

  async function useOf(index: string): Promise<IndexUse> {
    const [use] = await api.app.get<DataSource>(getDataSourceToken()).query<IndexUse[]>(
      `SELECT indexrelname AS index, idx_scan::int AS scans, idx_tup_read::int AS entries
       FROM pg_stat_user_indexes WHERE indexrelname = $1`,
      [index],
    );
    return use;
  }

  // Statements are planned while the tables of a new installation are empty, and these plans serve later calls.
  it('finds the runs of its thread without reading those of all threads', async () => {
    for (let run = 0; run < RUNS; run += 1) {
      const { thread_id } = await post('/threads', {});
      await post(`/threads/${thread_id}/runs`, { assistant_id: 'three', input: { step_ms: 1 } });
    }
    // Postgres publishes these figures with a delay.
    await waitFor('the use of the index', async () => (await useOf('runs_in_flight')).scans >= RUNS / 2);
    expect((await useOf('runs_tenant')).entries).toBeLessThan(RUNS);
  });

  it('takes few statements for many stateless runs that arrive together, and gives each what is its own', async () => {
    const database = api.app.get<DataSource>(getDataSourceToken());
    const query = jest.spyOn(database, 'query');
    const bodies = Array.from({ length: 40 }, (_, index) => ({
      assistant_id: 'three',
      input: { index },
      metadata: { index },
      config: { configurable: { index } },
      ...(index % 4 === 0 && { on_completion: 'keep' }),
      ...(index % 5 === 0 && { after_seconds: 3_600 }),
    }));
    const arrivals = jest.spyOn(api.app.get(RunCreationRepository, { strict: false }), 'insertRun');
    const writer = new Client({ connectionString: api.database.url });
    await writer.connect();
    // Holds the first insert until all runs have arrived.
    await writer.query('BEGIN');
    await writer.query('LOCK TABLE threads IN SHARE MODE');
    const posted = Promise.all(bodies.map((body) => post('/runs', body)));
    await waitFor('all runs to arrive', () => arrivals.mock.calls.length === bodies.length);
    await writer.query('COMMIT');
    await writer.end();
    const created = await posted;
    const inserts = query.mock.calls.filter(([text]) => text.includes('INSERT INTO runs'));
    jest.restoreAllMocks();
    expect(inserts).toHaveLength(2);
    const rows = await database.query<{ index: number; delayed: boolean; temporary: boolean; thread: object }[]>(
      `SELECT (r.kwargs->'input'->>'index')::int AS index, r.scheduled_at > now() + interval '59 minutes' AS delayed,
         t.temporary, jsonb_build_array(r.metadata->'index', t.metadata->'index', t.config->'configurable'->'index') AS thread
       FROM unnest($1::uuid[]) WITH ORDINALITY AS given(run_id, place) JOIN runs r USING (run_id)
       JOIN threads t ON t.tenant_id = r.tenant_id AND t.thread_id = r.thread_id ORDER BY place`,
      [created.map(({ run_id }) => run_id)],
    );
    expect(rows).toEqual(
      bodies.map((_, index) => ({
        index,
        delayed: index % 5 === 0,
        temporary: index % 4 !== 0,
        thread: [index, index, index],
      })),
    );
  });

  it('notifies workers of a run that can begin, and whether its events are read as they come', async () => {
    const listener = new Client({ connectionString: api.database.url });
    const due: DueRun[] = [];
    listener.on('notification', ({ payload = '' }) => due.push(parseDue(payload)));
    await listener.connect();
    const stopReading = new AbortController();
    try {
      await listener.query(`LISTEN ${RUN_DUE_CHANNEL}`);
      const run = { assistant_id: 'three', input: { step_ms: 1 } };
      const agent = new AgentCaller(api.url, 'three');
      const parts = [{ data: { step_ms: 1 } }];
      /** Starts a run and stops reading its stream. */
      const stream = async (path: string): Promise<string> => {
        const { headers } = await request(path, run, stopReading.signal);
        return headers.get('content-location')?.split('/').at(-1) ?? '';
      };
      const [background, streamed] = [await post('/threads', {}), await post('/threads', {})];
      const created = [
        { runId: (await post('/runs', run)).run_id, isStreamed: false },
        { runId: await stream('/runs/stream'), isStreamed: true },
        { runId: (await post(`/threads/${background.thread_id}/runs`, run)).run_id, isStreamed: false },
        { runId: await stream(`/threads/${streamed.thread_id}/runs/stream`), isStreamed: true },
        { runId: (await agent.send(parts, {}, { returnImmediately: true })).id, isStreamed: false },
      ];
      const answers = await agent.stream('SendStreamingMessage', toMessage(parts));
      for await (const { task } of answers) {
        created.push({ runId: task?.id ?? 'unknown', isStreamed: true });
        break;
      }
      // Neither a run that is due later nor one whose thread is busy.
      await post('/runs', { ...run, after_seconds: 3_600 });
      await post(`/threads/${background.thread_id}/runs`, run);
      const last = { runId: (await post('/runs', run)).run_id, isStreamed: false };
      await waitFor('the last notification', () => Promise.resolve(due.some(({ runId }) => runId === last.runId)));
      expect(due).toEqual([...created, last].map((each) => ({ ...each, tenantId: api.config.auth.defaultTenantId })));
    } finally {
      stopReading.abort();
      await listener.end();
    }
  });
});
