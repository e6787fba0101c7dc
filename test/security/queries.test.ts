import { Client } from 'pg';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { describedOperations, sampleOf } from '../support/operations';
import { waitFor } from '../support/wait-for';

const PROJECT = '7e4d2c3b-0000-4000-8000-000000000000';
const QUERY = { session: [PROJECT] };

const SEARCHES = [
  /\/(?:search|count|overview|query|stats|group|namespaces)$/,
  /^GET \/api\/v[12]\/(?:sessions|feedback)$/,
  /^GET \/api\/v2\/threads\/\{thread_id\}\/traces$/,
  /^GET \/api\/v2\/traces\/\{trace_id\}\/runs$/,
];
const ASKED = { session: [PROJECT], project_id: PROJECT, session_id: PROJECT, project_ids: [PROJECT] };
/** Parameters that an operation requires although its schema doesn't say so. */
const LEAST: Record<string, object> = {
  '/api/v1/runs/query': QUERY,
  '/api/v1/runs/stats': QUERY,
  '/api/v2/runs/query': { project_ids: [PROJECT] },
  '/api/v2/threads/stats': { select: ['TRACE_COUNT'] },
};
const QUERIES: Record<string, string> = {
  '/api/v2/traces/{trace_id}/runs': `?project_id=${PROJECT}`,
  '/api/v2/threads/{thread_id}/traces': `?project_id=${PROJECT}`,
  '/api/v2/threads/{thread_id}/stats': `?session_id=${PROJECT}&selects=TURNS`,
};

/** A table that is locked keeps a query as busy as terabytes would: until something ends it. */
describe('a query', () => {
  /** Connection that holds the lock. */
  let sql: Client;
  /** Connection outside a transaction, which sees the current activity. */
  let watcher: Client;

  async function withApi(overrides: Record<string, string>, test: (api: TestApi) => Promise<void>): Promise<void> {
    const api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS, ...overrides });
    sql = new Client({ connectionString: api.database.url });
    watcher = new Client({ connectionString: api.database.url });
    await Promise.all([sql.connect(), watcher.connect()]);
    try {
      await test(api);
    } finally {
      await Promise.all([sql.end(), watcher.end()]);
      await api.close();
    }
  }
  const post = (api: TestApi, path: string, body: object, signal?: AbortSignal): Promise<Response> =>
    fetch(api.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  const waiting = async (): Promise<number> => {
    const { rows } = await watcher.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'active' AND wait_event_type = 'Lock'`,
    );
    return rows[0].count;
  };
  const lock = async (...tables: string[]): Promise<void> => {
    await sql.query('BEGIN');
    await sql.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
  };

  it('by any conditions ends at its time limit, and reports so, on every route that searches', async () => {
    await withApi({ GANTRY_SEARCH_TIMEOUT_SECONDS: '1' }, async (api) => {
      const searches = await searchesOf(api);
      expect(searches.length).toBeGreaterThan(20);
      // With the first request the login of requests is read, and default assistants are stored.
      await post(api, '/assistants/search', {});
      const traces = ['trace_runs', 'trace_projects', 'trace_feedback'];
      await lock('threads', 'runs', 'assistants', 'crons', `"${CHECKPOINT_SCHEMA}".store`, ...traces);
      const wrong: string[] = [];
      // One at a time: each keeps a connection for its second.
      for (const { method, path, ask } of searches) {
        const response = await ask();
        const text = await response.text();
        const isLimited = response.status === 422 && text.includes('GANTRY_SEARCH_TIMEOUT_SECONDS');
        if (!isLimited) wrong.push(`${method} ${path}: ${response.status} ${text}`);
      }
      expect(wrong).toEqual([]);
      await sql.query('ROLLBACK');
      await waitFor('searches again', async () => (await post(api, '/api/v1/runs/query', QUERY)).status === 200);
      await waitFor('searches again', async () => (await post(api, '/threads/search', {})).status === 200);
    });
  });

  /** Every operation whose name says that it looks for something, with the least that it can be asked. */
  async function searchesOf(api: TestApi): Promise<{ method: string; path: string; ask: () => Promise<Response> }[]> {
    const operations = await describedOperations(api.url);
    return (
      operations
        .filter(({ method, path }) => SEARCHES.some((pattern) => pattern.test(`${method} ${path}`)))
        // For an unknown link, nothing is looked up.
        .filter(({ path }) => !path.includes('/public/'))
        .map(({ method, path, body }) => {
          const least = { ...(body && (sampleOf(body, ASKED) as object)), ...LEAST[path] };
          const address = `${path.replace(/\{\w+\}/g, PROJECT)}${QUERIES[path] ?? ''}`;
          const get = (): Promise<Response> => fetch(api.url + address);
          return { method, path, ask: method === 'GET' ? get : () => post(api, address, least) };
        })
    );
  }

  it('ends when its client has disconnected, and others continue', async () => {
    await withApi({}, async (api) => {
      await post(api, '/threads', {});
      await lock('trace_runs', 'threads');
      for (const [path, body] of [
        ['/api/v1/runs/query', QUERY],
        ['/threads/search', {}],
      ] as const) {
        const client = new AbortController();
        const answer = post(api, path, body, client.signal).catch(() => 'gone');
        await waitFor('the query to be under way', async () => (await waiting()) > 0);
        client.abort();
        expect(await answer).toBe('gone');
        await waitFor('the end of the query', async () => (await waiting()) === 0);
      }
      await sql.query('ROLLBACK');
      expect(await (await post(api, '/threads/count', {})).json()).toBe(1);
    });
  });

  it('that writes is not a search: it ends at the limit of all statements', async () => {
    await withApi({ GANTRY_SEARCH_TIMEOUT_SECONDS: '1', GANTRY_STATEMENT_TIMEOUT_SECONDS: '2' }, async (api) => {
      await lock('threads');
      const response = await post(api, '/threads', {});
      expect([response.status, await response.text()]).toEqual([
        503,
        expect.stringContaining('GANTRY_STATEMENT_TIMEOUT_SECONDS'),
      ]);
    });
  });

  it('searches for a limited number of words, in all of its fields together', async () => {
    await withApi({}, async (api) => {
      const words = (count: number): string => Array(count).fill('word').join(' ');
      for (const [body, field] of [
        [{ query: words(20_000) }, 'query'],
        [{ search_filter: words(51) }, 'search_filter'],
        [{ filter: `search("${words(51)}")` }, 'filter'],
        [{ filter: `search("${words(30)}")`, query: words(30) }, 'query'],
        [{ filter: `search("${words(30)}")`, tree_filter: `search(name, "${words(30)}")` }, 'tree_filter'],
      ] as const) {
        const response = await post(api, '/api/v1/runs/query', { ...QUERY, ...body });
        expect([response.status, await response.text()]).toEqual([
          422,
          expect.stringContaining(`${field}: a query looks for at most 50 words`),
        ]);
      }
      expect((await post(api, '/api/v1/runs/query', { ...QUERY, query: words(50) })).status).toBe(200);
    });
  });
});
