import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Client } from '@langchain/langgraph-sdk';
import { startTestApi } from '../support/api';
import { startGantry, type Gantry } from '../support/gantry';
import { answeringGraph, layOutProject, type Project } from '../support/project';
import { SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';

const APP = `import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { Client } from '@langchain/langgraph-sdk';
import { getLogger } from '@langchain/langgraph-sdk/logging';
import { greeting } from '@/greeting';

const logger = getLogger();
logger.info('The app is loaded');

export const app = new Hono();
let seen = 0;

app.use('*', async (c, next) => {
  seen += 1;
  await next();
  c.header('x-served-by', 'acme');
});
app.use('/threads', async (c, next) => {
  if (c.req.method !== 'POST') return next();
  const body = await c.req.json();
  const metadata = { ...body.metadata, origin: 'middleware', as: c.req.header('authorization') ?? null };
  c.req.raw = new Request(c.req.raw, { body: JSON.stringify({ ...body, metadata }), method: 'POST' });
  await next();
});
app.use('/threads/*', async (c, next) => {
  if (c.req.header('x-closed')) return c.json({ closed: true }, 418);
  if (c.req.header('x-thrown')) throw new HTTPException(402, { message: 'Pay first' });
  await next();
});
app.use('/assistants/*', async (c, next) => {
  await next();
  if (!c.res.headers.get('content-type')?.includes('json') || c.req.path.endsWith('search')) return;
  const answer = await c.res.json();
  c.res = Response.json({ ...answer, seen_by: 'middleware' }, { status: c.res.status });
});
app.use('/runs/*', async (c, next) => {
  if (c.req.header('x-renamed')) {
    const headers = new Headers(c.req.raw.headers);
    headers.set('authorization', 'Bearer carol');
    c.req.raw = new Request(c.req.raw, { headers });
  }
  await next();
});
app.get('/seen', (c) => c.json({ seen }));
app.get('/greet', (c) => c.json({ greeting }));
app.post('/logged', (c) => {
  logger.warn('A route logs', { colour: 'red' }, new Error('with a reason'));
  return c.body(null, 204);
});
app.get('/my-threads', async (c) => c.json(await new Client().threads.search()));
app.get('/my-run', async (c) => c.json(await new Client().runs.wait(null, 'agent', { input: { ask: c.req.query('ask') } })));
app.get('/asked', async (c) => {
  const chunks = [];
  for await (const { event, data } of new Client().runs.stream(null, 'agent', { input: { ask: 'log' }, streamMode: 'updates' }))
    chunks.push([event, data]);
  return c.json(chunks);
});
app.notFound((c) => c.text("the app's own notFound", 404));
`;

const AUTH = `import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
import { getLogger } from '@langchain/langgraph-sdk/logging';

export const auth = new Auth()
  .authenticate((request) => {
    const [, name] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
    if (!name) throw new HTTPException(401, { message: 'No token' });
    getLogger().info('Somebody is authenticated', { name });
    return { identity: name, permissions: [] };
  })
  .on('*', ({ user }) => ({ owner: user.identity }))
  .on('threads:create', ({ value, user }) => {
    value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on('threads:create_run', ({ value, user }) => {
    value.metadata = { ...value.metadata, owner: user.identity };
  })
  .on('assistants', () => true);
`;

const GRAPH = `import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Client } from '@langchain/langgraph-sdk';
import { getLogger } from '@langchain/langgraph-sdk/logging';

const logger = getLogger();
const State = Annotation.Root({ ask: Annotation<string>, answer: Annotation<unknown> });

export const graph = new StateGraph(State)
  .addNode('say', async ({ ask }) => {
    if (ask === 'threads') return { answer: await new Client().threads.search() };
    logger.child({ part: 'node' }).info('A node logs', { big: 2n });
    return { answer: 'logged' };
  })
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile();
`;

const project = (http: Record<string, unknown> = {}): Project =>
  layOutProject({
    'langgraph.json': {
      graphs: { agent: './src/graph.ts:graph' },
      auth: { path: './src/auth.ts:auth' },
      http: { app: './src/app.ts:app', ...http },
    },
    'package.json': { name: 'acme', type: 'module' },
    'tsconfig.json': { compilerOptions: { paths: { '@/*': ['./src/*'] } } },
    'src/greeting.ts': "export const greeting: string = 'hi';\n",
    'src/app.ts': APP,
    'src/auth.ts': AUTH,
    'src/graph.ts': GRAPH,
  });

interface LogLine {
  msg: string;
  level: number;
  context: string;
  [field: string]: unknown;
}

async function logged(gantry: Gantry, message: string): Promise<LogLine> {
  return waitFor(`the line "${message}"`, () => {
    const line = gantry
      .logs()
      .split('\n')
      .find((text) => text.includes(`"msg":"${message}`));
    return line === undefined ? undefined : (JSON.parse(line) as LogLine);
  });
}

describe('a custom app with middleware', () => {
  let app: Project;
  let gantry: Gantry;
  const as = (name: string, more: Record<string, string> = {}): Record<string, string> => ({
    authorization: `Bearer ${name}`,
    'content-type': 'application/json',
    ...more,
  });
  const get = (path: string, headers: Record<string, string> = as('alice')): Promise<Response> =>
    fetch(gantry.url + path, { headers });
  const post = (path: string, body: object, headers = as('alice')): Promise<Response> =>
    fetch(gantry.url + path, { method: 'POST', headers, body: JSON.stringify(body) });

  beforeAll(async () => {
    app = project();
    gantry = await startGantry({ graphProcesses: 1, graphs: app.path('langgraph.json') });
  });

  afterAll(async () => {
    await gantry?.stop();
    app?.remove();
  });

  it('serves its own routes, with the path aliases of its project', async () => {
    const response = await get('/greet');
    expect(await response.json()).toEqual({ greeting: 'hi' });
    expect(response.headers.get('x-served-by')).toBe('acme');
  });

  it('changes request bodies before the API sees them, and adds headers to its answers', async () => {
    const response = await post('/threads', { metadata: { mine: 1 } });
    expect(response.headers.get('x-served-by')).toBe('acme');
    expect(response.headers.get('x-request-id')).toBeTruthy();
    expect(await response.json()).toMatchObject({
      status: 'idle',
      metadata: { mine: 1, origin: 'middleware', as: 'Bearer alice', owner: 'alice' },
    });
  });

  it('answers requests itself, including by throwing, and replaces the content of answers', async () => {
    const closed = await post('/threads/search', {}, as('alice', { 'x-closed': 'yes' }));
    expect([closed.status, await closed.json()]).toEqual([418, { closed: true }]);
    const thrown = await post('/threads/search', {}, as('alice', { 'x-thrown': 'yes' }));
    expect([thrown.status, await thrown.text()]).toEqual([402, 'Pay first']);
    const [{ assistant_id: id }] = (await (await post('/assistants/search', {})).json()) as { assistant_id: string }[];
    expect(await (await get(`/assistants/${id}`)).json()).toMatchObject({ assistant_id: id, seen_by: 'middleware' });
  });

  it('lets the API refuse unknown callers after the middleware', async () => {
    const response = await post('/threads/search', {}, { 'content-type': 'application/json' });
    expect([response.status, response.headers.get('x-served-by')]).toEqual([401, 'acme']);
  });

  it('passes streams through, and cancels what its client abandons', async () => {
    const reader = await SseReader.post(
      `${gantry.url}/runs/stream`,
      { assistant_id: 'agent', input: { ask: 'log' }, stream_mode: ['updates'] },
      as('alice'),
    );
    const events: string[] = [];
    for await (const { event } of reader) events.push(event);
    expect(events).toEqual(expect.arrayContaining(['metadata', 'updates']));
  });

  it('passes requests without a body on as they are', async () => {
    const { thread_id: thread } = (await (await post('/threads', {})).json()) as { thread_id: string };
    const { run_id: run } = (await (
      await post(`/threads/${thread}/runs`, { assistant_id: 'agent', input: { ask: 'log' } })
    ).json()) as { run_id: string };
    await get(`/threads/${thread}/runs/${run}/join`);
    const send = async (method: string, path: string): Promise<number> => {
      const headers = { authorization: 'Bearer alice' };
      return (await fetch(gantry.url + path, { method, headers })).status;
    };
    expect(await send('POST', `/threads/${thread}/copy`)).toBe(200);
    expect(await send('DELETE', `/threads/${thread}/runs/${run}`)).toBe(204);
    expect(await send('DELETE', `/threads/${thread}`)).toBe(204);
  });

  it('opens a stream before its first event', async () => {
    const call = request(`${gantry.url}/threads/${randomUUID()}/stream/events`, {
      method: 'POST',
      headers: as('alice'),
    });
    call.end(JSON.stringify({ channels: ['values'] }));
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    await setImmediate();
    // This text would have come with the head if the head had waited for it.
    expect([answer.statusCode, answer.readableLength]).toEqual([200, 0]);
    call.destroy();
  });

  it('leaves unknown paths to the server, and probes untouched', async () => {
    const unknown = await get('/nothing/here');
    expect(unknown.status).toBe(404);
    expect(await unknown.text()).not.toContain('own notFound');
    const wrong = await fetch(`${gantry.url}/threads/search`, { method: 'PUT', headers: as('alice') });
    expect(wrong.status).toBe(405);
    const ok = await get('/ok', {});
    expect([ok.status, ok.headers.get('x-served-by')]).toEqual([200, null]);
  });

  it('keeps the store usable where a catch-all handler returns a filter, and separates other users’ marked items', async () => {
    const store = (name: string) =>
      new Client({ apiUrl: gantry.url, apiKey: null, defaultHeaders: as(name), callerOptions: { maxRetries: 0 } })
        .store;
    await store('alice').putItem(['shared'], 'plain', { text: 'for all' });
    await store('alice').putItem(['shared'], 'hers', { text: 'mine', owner: 'alice' });
    const keysOf = async (name: string, offset = 0): Promise<string[]> =>
      (await store(name).searchItems(['shared'], { offset })).items.map(({ key }) => key).sort();
    expect(await keysOf('alice')).toEqual(['hers', 'plain']);
    expect(await keysOf('bob')).toEqual(['plain']);
    expect(await keysOf('bob', 1)).toEqual([]);
    expect((await store('bob').getItem(['shared'], 'plain'))?.value).toEqual({ text: 'for all' });
    expect(await store('bob').getItem(['shared'], 'hers')).toBeNull();
    await expect(store('bob').putItem(['shared'], 'hers', { text: 'his now' })).rejects.toThrow('404');
    await expect(store('bob').putItem(['shared'], 'new', { owner: 'alice' })).rejects.toThrow('403');
    await store('bob').deleteItem(['shared'], 'hers');
    expect(await keysOf('alice')).toEqual(['hers', 'plain']);
    expect((await store('bob').listNamespaces({})).namespaces).toEqual([['shared']]);
  });

  it('applies a filter of the store’s own handler to the namespace and the key', async () => {
    const strict = layOutProject({
      'langgraph.json': { graphs: { agent: './graph.ts:graph' }, auth: { path: './auth.ts:auth' } },
      'graph.ts': answeringGraph('', '1'),
      'auth.ts': `import { Auth } from '@langchain/langgraph-sdk/auth';
export const auth = new Auth()
  .authenticate(() => ({ identity: 'u', permissions: [] }))
  .on('*', () => true)
  .on('store', ({ action }) => action === 'put' ? true : { namespace: { $contains: 'open' } })
  .on('store:get', () => ({ key: 'one', kind: 'note' }));
`,
    });
    const api = await startTestApi({ GANTRY_CONFIG: strict.path('langgraph.json') });
    try {
      const { store } = new Client({ apiUrl: api.url, apiKey: null, callerOptions: { maxRetries: 0 } });
      await store.putItem(['open', 'a'], 'one', { kind: 'note' });
      await store.putItem(['open', 'a'], 'two', { kind: 'note' });
      await store.putItem(['shut'], 'one', { kind: 'other' });
      expect(
        (await store.searchItems([])).items.map(({ namespace, key }) => [...namespace, key].join()).sort(),
      ).toEqual(['open,a,one', 'open,a,two']);
      expect((await store.listNamespaces({})).namespaces).toEqual([['open', 'a']]);
      expect((await store.getItem(['open', 'a'], 'one'))?.key).toBe('one');
      expect(await store.getItem(['open', 'a'], 'two')).toBeNull();
      expect(await store.getItem(['shut'], 'one')).toBeNull();
    } finally {
      await api.close();
      strict.remove();
    }
  });

  it('leaves the handshakes of WebSockets to the API', async () => {
    const socket = new WebSocket(`${gantry.url.replace('http', 'ws')}/threads/${randomUUID()}/stream/events`);
    const closed = new Promise((resolve) =>
      socket.once('unexpected-response', (_request, { statusCode }) => resolve(statusCode)),
    );
    socket.on('error', () => undefined);
    // Refused by the API's own guard; if the request didn't reach the route, the answer would be 404.
    expect(await closed).toBe(401);
  });

  it('gives routes and graphs a client of the API that acts on behalf of the caller', async () => {
    for (const name of ['bob', 'dora']) await post('/threads', {}, as(name));
    const owners = async (response: Response): Promise<unknown[]> => {
      const found = (await response.json()) as
        { metadata: { owner: string } }[] | { answer: { metadata: { owner: string } }[] };
      return (Array.isArray(found) ? found : found.answer).map(({ metadata }) => metadata.owner);
    };
    expect(new Set(await owners(await get('/my-threads', as('bob'))))).toEqual(new Set(['bob']));
    expect(new Set(await owners(await get('/my-run?ask=threads', as('dora'))))).toEqual(new Set(['dora']));
    // Routes of one's own ask for a user as the API's do.
    expect((await get('/my-threads', {})).status).toBe(401);
    const chunks = (await (await get('/asked', as('bob'))).json()) as [string, unknown][];
    expect(chunks.find(([event]) => event === 'updates')).toEqual(['updates', { say: { answer: 'logged' } }]);
  });

  it('lets middleware set the caller', async () => {
    await post('/runs/wait', { assistant_id: 'agent', input: { ask: 'threads' } }, as('alice', { 'x-renamed': 'yes' }));
    expect(await logged(gantry, 'Somebody is authenticated')).toMatchObject({
      context: 'Auth',
      name: expect.any(String),
    });
    await waitFor('carol', () => gantry.logs().includes('"name":"carol"'));
  });

  it('writes the logs of the project’s code to the log of the process, with their origin', async () => {
    const client = new Client({ apiUrl: gantry.url, apiKey: null, defaultHeaders: { authorization: 'Bearer alice' } });
    const thread = await client.threads.create();
    const run = await client.runs.create(thread.thread_id, 'agent', { input: { ask: 'log' } });
    await client.runs.join(thread.thread_id, run.run_id);
    await waitFor('the line of the run', () =>
      gantry
        .logs()
        .split('\n')
        .some((line) => line.includes('"msg":"A node logs') && line.includes(run.run_id)),
    );
    const line = gantry
      .logs()
      .split('\n')
      .find((text) => text.includes('A node logs') && text.includes(run.run_id))!;
    expect(JSON.parse(line)).toMatchObject({
      process: 'worker',
      context: 'Graph',
      level: 30,
      part: 'node',
      big: '2',
      run_id: run.run_id,
      thread_id: thread.thread_id,
      graph_id: 'agent',
      langgraph_node: 'say',
    });
    const response = await post('/logged', {});
    expect(await logged(gantry, 'A route logs')).toMatchObject({
      process: 'api',
      context: 'App',
      level: 40,
      colour: 'red',
      err: { message: 'with a reason' },
      request_id: response.headers.get('x-request-id'),
    });
  });
});

describe('middleware_order: auth_first', () => {
  it('authenticates the caller before the middleware does anything', async () => {
    const app = project({ middleware_order: 'auth_first' });
    const gantry = await startGantry({ graphProcesses: 1, graphs: app.path('langgraph.json') });
    try {
      const search = (headers: Record<string, string>): Promise<Response> =>
        fetch(`${gantry.url}/threads/search`, { method: 'POST', body: '{}', headers });
      const stranger = await search({ 'content-type': 'application/json', 'x-closed': 'yes' });
      expect([stranger.status, stranger.headers.get('x-served-by')]).toEqual([401, null]);
      const known = await search({ 'content-type': 'application/json', authorization: 'Bearer a', 'x-closed': 'yes' });
      expect(known.status).toBe(418);
      expect((await fetch(`${gantry.url}/info`)).headers.get('x-served-by')).toBe('acme');
    } finally {
      await gantry.stop();
      app.remove();
    }
  });
});
