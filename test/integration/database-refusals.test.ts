import { startApiProcess, type ApiProcess } from '../support/api-process';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { PostgresProxy } from '../support/postgres-proxy';
import { waitFor } from '../support/wait-for';

/** Name of the connections of the api's own pool. */
const POOL = 'gantry';

describe('a request for which the database accepts no connection', () => {
  let database: TestDatabase;
  let proxy: PostgresProxy;
  let api: ApiProcess;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await PostgresProxy.start(database.url);
    api = await startApiProcess({ GANTRY_AUTH: 'off' }, { url: proxy.url, drop: () => Promise.resolve() });
  });

  afterAll(async () => {
    await api?.close();
    await proxy?.stop();
    await database?.drop();
  });

  const createThread = (): Promise<Response> =>
    fetch(`${api.url}/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });

  it.each([
    ['which refuses them', () => proxy.cut(POOL)],
    ['which leaves them without an answer', () => proxy.hold(POOL)],
  ])('is answered with 503 and Retry-After: one %s', async (_, disturb) => {
    expect((await createThread()).status).toBe(200);
    disturb();
    try {
      // A request may still use a connection whose end the api has not noticed.
      const response = await waitFor('the api to notice that its connections have ended', async () => {
        const answer = await createThread();
        return answer.status !== 500 && answer;
      });
      expect(await response.json()).toEqual({
        detail: 'The database accepts no connection: try again',
        code: 'database_unavailable',
      });
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    } finally {
      proxy.repair();
    }
    await waitFor('the api to answer again', async () => (await createThread()).status === 200);
  });
});
