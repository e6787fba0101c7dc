import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
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

/** Statements are planned while the tables of a new installation are empty, and these plans serve later calls. */
describe('the runs of a thread', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS, TEMPORAL_NAMESPACE: await registerNamespace() });
  });
  afterAll(() => api?.close());

  const post = async (path: string, body: unknown): Promise<{ thread_id: string }> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(api.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return (await response.json()) as { thread_id: string };
  };

  async function useOf(index: string): Promise<IndexUse> {
    const [use] = await api.app.get<DataSource>(getDataSourceToken()).query<IndexUse[]>(
      `SELECT indexrelname AS index, idx_scan::int AS scans, idx_tup_read::int AS entries
       FROM pg_stat_user_indexes WHERE indexrelname = $1`,
      [index],
    );
    return use;
  }

  it('are found without reading those of all threads', async () => {
    for (let run = 0; run < RUNS; run += 1) {
      const { thread_id } = await post('/threads', {});
      await post(`/threads/${thread_id}/runs`, { assistant_id: 'three', input: { step_ms: 1 } });
    }
    // Postgres publishes these figures with a delay.
    await waitFor('the use of the index', async () => (await useOf('runs_thread')).scans >= RUNS / 2);
    expect((await useOf('runs_tenant')).entries).toBeLessThan(RUNS);
  });
});
