import { randomUUID } from 'node:crypto';
import { on, once } from 'node:events';
import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { v5 as uuidv5 } from 'uuid';
import WebSocket from 'ws';
import { AgentCaller, toMessage } from '../support/a2a';
import { Gantry } from '../support/gantry';
import { connectMcp, ERAS, postMcp } from '../support/mcp';
import { pythonForGraphs, runPython } from '../support/python';
import { SseReader } from '../support/sse';
import { refusalOf, type SocketReply, socketUrl, ThreadSocket } from '../support/thread-socket';
import { waitFor } from '../support/wait-for';

const FOLDER = join(__dirname, '..', 'support', 'auth');
const SCRIPT = join(__dirname, '..', 'python', 'custom_auth_client.py');
const API_KEY = 'development-key-0123456789';

/** Status of the error with which the SDK rejects. */
const status = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 200,
    (error: { status?: number; message: string }) => error.status ?? error.message,
  );

describe.each([
  ['TypeScript', 'langgraph.json'],
  ['Python', 'langgraph-python.json'],
])('the custom auth of langgraph.json, in %s', (_, config) => {
  let gantry: Gantry;
  let alice: Client;
  let bob: Client;

  beforeAll(async () => {
    gantry = await Gantry.start({
      graphProcesses: 1,
      graphs: join(FOLDER, config),
      env: {
        GANTRY_AUTH: 'on',
        GANTRY_API_KEY: API_KEY,
        GANTRY_ADMIN_KEY: 'admin-key-0123456789',
        GANTRY_PYTHON: pythonForGraphs(),
      },
    });
    alice = as('alice');
    bob = as('bob');
  });

  afterAll(() => gantry?.stop());

  const as = (name: string): Client => gantry.client({ headers: { authorization: `Bearer ${name}` } });
  const ask = (headers: Record<string, string>, path = '/threads/search', body: unknown = {}): Promise<Response> =>
    fetch(gantry.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  if (config === 'langgraph-python.json') {
    it('identifies the caller of the routes of http.app', async () => {
      const url = `${gantry.url}/whoami/a%2Fb`;
      expect((await fetch(url)).status).toBe(401);
      const answer = await fetch(url, { headers: { authorization: 'Bearer alice' } });
      expect(await answer.json()).toEqual({ path: 'a/b', user: 'alice', permissions: ['read', 'write'] });
    });

    it('identifies the caller of the WebSockets of http.app', async () => {
      const url = `${gantry.url.replace('http', 'ws')}/chat/a%2Fb`;
      const refusal = async (headers: Record<string, string>) => {
        const { status: code, text, headers: own } = await refusalOf(url, { headers });
        return [code, JSON.parse(text), own['www-authenticate']];
      };
      expect(await refusal({})).toEqual([401, { detail: 'No token', code: 'custom_auth' }, 'Bearer']);
      const banned = { authorization: 'Bearer banned' };
      expect(await refusal(banned)).toEqual([403, { detail: 'Banned', code: 'custom_auth' }, undefined]);
      expect((await refusal({ 'x-api-key': API_KEY }))[0]).toBe(401);

      const socket = new WebSocket(url, { headers: { authorization: 'Bearer alice' } });
      const messages = on(socket, 'message');
      const next = async (): Promise<unknown> =>
        JSON.parse(String(((await messages.next()).value as unknown[])[0])) as unknown;
      expect(await next()).toEqual({ room: 'a/b', user: 'alice', permissions: ['read', 'write'] });
      // On behalf of the user who opened it.
      socket.send('hello');
      expect(await next()).toMatchObject({ said: 'hello', owner: 'alice' });
      socket.close();
      await once(socket, 'close');

      // A page learns of a refusal by the code with which its socket is closed.
      const page = new WebSocket(url, { headers: banned, origin: gantry.url });
      expect(await once(page, 'close')).toEqual([4403, Buffer.from('Banned')]);
    });
  }

  if (config === 'langgraph-python.json') {
    it('is refused by an assertion of a handler, which sees namespaces as tuples', async () => {
      const refused = await fetch(`${gantry.url}/store/items`, {
        method: 'DELETE',
        headers: { 'content-type': 'application/json', authorization: 'Bearer alice' },
        body: JSON.stringify({ namespace: ['pinned'], key: 'one' }),
      });
      expect([refused.status, await refused.json()]).toEqual([
        403,
        { detail: 'Pinned items stay', code: 'custom_auth' },
      ]);
    });

    it('may be a pair of permissions and user, chosen by all values of a parameter of the query', async () => {
      const me = async (name: string, query = ''): Promise<unknown> =>
        (await fetch(`${gantry.url}/api/v1/me${query}`, { headers: { authorization: `Bearer ${name}` } })).json();
      expect(await me('paired', '?may=read&may=write&other=1')).toMatchObject({
        identity: 'paired',
        permissions: ['read', 'write'],
      });
      expect(await me('named')).toMatchObject({ identity: 'named', permissions: [] });
    });

    it('is asked for in a process that survives sys.exit()', async () => {
      const visits = async (device: string): Promise<number> => {
        const answer = await ask({ authorization: 'Bearer counted', 'x-device': device }, '/threads', {});
        return ((await answer.json()) as { metadata: { visits: number } }).metadata.visits;
      };
      const before = await visits('before');
      const left = await ask({ authorization: 'Bearer quit' });
      expect([left.status, await left.json()]).toEqual([
        500,
        { detail: 'The custom auth failed', code: 'custom_auth_failed' },
      ]);
      expect(await visits('after')).toBeGreaterThan(before);
    });
  }

  describe('identity', () => {
    it('is the result of authenticate: refusals keep their status, message and headers', async () => {
      const missing = await ask({});
      expect([missing.status, await missing.json()]).toEqual([401, { detail: 'No token', code: 'custom_auth' }]);
      expect(missing.headers.get('www-authenticate')).toBe('Bearer');
      const banned = await ask({ authorization: 'Bearer banned' });
      expect([banned.status, await banned.json()]).toEqual([403, { detail: 'Banned', code: 'custom_auth' }]);
      expect((await ask({ authorization: 'Bearer nobody' })).status).toBe(401);
      const busy = await ask({ authorization: 'Bearer busy' });
      expect([busy.status, await busy.json()]).toEqual([503, { detail: 'Busy', code: 'custom_auth' }]);
      expect(busy.headers.get('retry-after')).toBe('7');
    });

    it('is refused when the module crashes, and the reasons appear in the log only', async () => {
      for (const name of ['crash', 'upstream']) {
        const crashed = await ask({ authorization: `Bearer ${name}` });
        expect([crashed.status, await crashed.json()]).toEqual([
          500,
          { detail: 'The custom auth failed', code: 'custom_auth_failed' },
        ]);
      }
      await waitFor('the log', () => gantry.logs().includes('a secret of the module'));
    });

    it('is not that of an API key, or of Studio without one', async () => {
      expect((await ask({ 'x-api-key': API_KEY })).status).toBe(401);
      expect((await ask({ 'x-auth-scheme': 'langsmith' })).status).toBe(401);
      expect((await ask({ 'x-auth-scheme': 'langsmith', 'x-api-key': 'wrong-key-0123456789' })).status).toBe(401);
      expect((await ask({ 'x-auth-scheme': 'langsmith', 'x-api-key': API_KEY })).status).toBe(200);
    });

    it('applies to the deployment API only: traces and exports keep their keys', async () => {
      const sessions = (headers: Record<string, string>): Promise<Response> =>
        fetch(`${gantry.url}/api/v1/sessions`, { headers });
      expect((await sessions({ authorization: 'Bearer alice' })).status).toBe(401);
      expect((await sessions({ 'x-api-key': API_KEY })).status).toBe(200);
      const deliveries = await fetch(`${gantry.url}/webhooks/deliveries`, {
        headers: { authorization: 'Bearer alice' },
      });
      expect(deliveries.status).toBe(401);
    });

    it('is passed to the graph, and nowhere else', async () => {
      const { thread_id } = await alice.threads.create();
      const forged = { langgraph_auth_user: { identity: 'root' }, langgraph_auth_user_id: 'root' };
      const whoami = async (configurable: Record<string, unknown>): Promise<unknown> => {
        const run = { input: { said: 'hi' }, config: { configurable } };
        return ((await alice.runs.wait(thread_id, 'whoami', run)) as { user: unknown }).user;
      };
      expect(await whoami({ user_id: 'mine' })).toMatchObject({ langgraph_auth_user_id: 'alice', user_id: 'mine' });
      expect(await whoami(forged)).toEqual({
        langgraph_auth_user: expect.objectContaining({ identity: 'alice', team: 'blue', is_authenticated: true }),
        langgraph_auth_user_id: 'alice',
        langgraph_auth_permissions: ['read', 'write'],
        user_id: 'alice',
      });
      const [run] = await alice.runs.list(thread_id);
      expect(JSON.stringify(run)).not.toMatch(/blue|root/);
      expect(JSON.stringify((await alice.threads.get(thread_id)).config)).not.toMatch(/blue|root/);
    });
  });

  describe('ownership', () => {
    it('a thread belongs to its creator: for others it does not exist, on any route', async () => {
      const { thread_id, metadata } = await alice.threads.create({ metadata: { topic: 'secret' } });
      expect(metadata).toEqual({ topic: 'secret', owner: 'alice', readers: ['alice', 'auditor'] });
      const tries: [string, Promise<unknown>][] = [
        ['get', bob.threads.get(thread_id)],
        ['patch', bob.threads.update(thread_id, { metadata: { owner: 'bob' } })],
        ['delete', bob.threads.delete(thread_id)],
        ['copy', bob.threads.copy(thread_id)],
        ['state', bob.threads.getState(thread_id)],
        ['update state', bob.threads.updateState(thread_id, { values: { said: 'mine' }, asNode: 'whoami' })],
        ['history', bob.threads.getHistory(thread_id)],
        ['run', bob.runs.create(thread_id, 'whoami', { input: {} })],
        ['run, making the thread', bob.runs.create(thread_id, 'whoami', { input: {}, ifNotExists: 'create' })],
        ['list runs', bob.runs.list(thread_id)],
        ['take its id', bob.threads.create({ threadId: thread_id, ifExists: 'do_nothing' })],
      ];
      const outcomes = await Promise.all(tries.map(async ([name, outcome]) => [name, await status(outcome)]));
      expect(outcomes).toEqual(tries.map(([name]) => [name, name === 'take its id' ? 409 : 404]));
      expect(await alice.threads.get(thread_id)).toMatchObject({ metadata, status: 'idle' });
    });

    it('a run belongs to the owner of its thread', async () => {
      const countCreated = async (name: string): Promise<number> => {
        const overview = await ask({ authorization: `Bearer ${name}` }, '/runs/overview');
        const { buckets } = (await overview.json()) as { buckets: { created: number }[] };
        return buckets.reduce((sum, { created }) => sum + created, 0);
      };
      const [hers, his] = [await countCreated('alice'), await countCreated('bob')];
      const { thread_id } = await alice.threads.create();
      const { run_id } = await alice.runs.create(thread_id, 'whoami', { input: {}, afterSeconds: 60 });
      const statelessPath = (path: string): Promise<Response> =>
        fetch(`${gantry.url}/runs/${run_id}${path}`, { headers: { authorization: 'Bearer bob' } });
      expect(await status(bob.runs.get(thread_id, run_id))).toBe(404);
      expect(await status(bob.runs.cancel(thread_id, run_id))).toBe(404);
      expect(await status(bob.runs.delete(thread_id, run_id))).toBe(404);
      expect(await status(bob.runs.join(thread_id, run_id))).toBe(404);
      for (const path of ['', '/join', '/stream'])
        expect([path, (await statelessPath(path)).status]).toEqual([path, 404]);
      const cancelAll = await ask({ authorization: 'Bearer bob' }, '/runs/cancel', { status: 'all' });
      expect(cancelAll.status).toBe(404);
      const found = async (name: string): Promise<unknown[]> => {
        const search = { thread_id, status: ['pending'] };
        const answers = [
          await ask({ authorization: `Bearer ${name}` }, '/runs/search', search),
          await ask({ authorization: `Bearer ${name}` }, '/runs/count', search),
        ];
        const [runs, count] = (await Promise.all(answers.map((each) => each.json()))) as [{ run_id: string }[], number];
        return [runs.map((each) => each.run_id), count];
      };
      expect(await found('bob')).toEqual([[], 0]);
      expect(await found('alice')).toEqual([[run_id], 1]);
      expect([await countCreated('alice'), await countCreated('bob')]).toEqual([hers + 1, his]);
      expect(await alice.runs.get(thread_id, run_id)).toMatchObject({
        status: 'pending',
        metadata: { owner: 'alice' },
      });
      expect(await status(alice.runs.cancel(thread_id, run_id))).toBe(200);
    });

    it('a stateless run can be rejoined by its creator only', async () => {
      const created = await ask({ authorization: 'Bearer alice' }, '/runs', { assistant_id: 'whoami', input: {} });
      const { run_id } = (await created.json()) as { run_id: string };
      const join = (name: string): Promise<Response> =>
        fetch(`${gantry.url}/runs/${run_id}`, { headers: { authorization: `Bearer ${name}` } });
      expect((await join('bob')).status).toBe(404);
      // The threads:read handler of this module filters by a list that only its threads:create sets.
      expect((await join('alice')).status).toBe(404);
    });

    it('searches and counts find the caller’s own resources', async () => {
      const metadata = { batch: `b${Date.now()}` };
      const { thread_id } = await alice.threads.create({ metadata });
      await bob.threads.create({ metadata });
      const found = await alice.threads.search({ metadata });
      expect(found.map((thread) => thread.thread_id)).toEqual([thread_id]);
      const count = await ask({ authorization: 'Bearer bob' }, '/threads/count', { metadata });
      expect(await count.json()).toBe(1);
    });

    it('$contains shares a thread with the users on its list', async () => {
      const { thread_id } = await alice.threads.create();
      expect(await as('auditor').threads.get(thread_id)).toMatchObject({ thread_id });
      expect(await status(as('auditor').threads.delete(thread_id))).toBe(404);
    });

    it('false is a 403', async () => {
      expect(await status(as('reader').threads.create())).toBe(403);
    });

    it('assistants belong to their creators, and the graphs to all users', async () => {
      const { assistant_id, metadata } = await alice.assistants.create({ graphId: 'whoami', name: 'mine' });
      expect(metadata).toEqual({ owner: 'alice' });
      expect(await status(bob.assistants.get(assistant_id))).toBe(404);
      expect(await status(bob.assistants.update(assistant_id, { name: 'his' }))).toBe(404);
      expect(await status(bob.assistants.getVersions(assistant_id))).toBe(404);
      expect(await status(bob.assistants.setLatest(assistant_id, 1))).toBe(404);
      expect(await status(bob.assistants.getGraph(assistant_id))).toBe(404);
      expect(await status(bob.assistants.delete(assistant_id))).toBe(404);
      expect(await bob.assistants.search()).toEqual([]);
      expect((await alice.assistants.search()).map((each) => each.assistant_id)).toEqual([assistant_id]);
      expect(await status(bob.runs.wait(null, assistant_id, { input: {} }))).toBe(404);
      expect(await status(bob.runs.wait(null, 'whoami', { input: {} }))).toBe(200);
      expect(await status(alice.runs.wait(null, assistant_id, { input: {} }))).toBe(200);
    });

    it('deleting a shared assistant leaves the threads and runs of other users as they are', async () => {
      const carol = as('carol');
      const { assistant_id } = await alice.assistants.create({ graphId: 'whoami', metadata: { team: 'blue' } });
      const begin = async (client: Client) => {
        const [ended, waiting] = await Promise.all([client.threads.create(), client.threads.create()]);
        await client.runs.wait(ended.thread_id, assistant_id, { input: {} });
        const { run_id } = await client.runs.create(waiting.thread_id, assistant_id, { input: {}, afterSeconds: 600 });
        return { ended: ended.thread_id, waiting: waiting.thread_id, run_id };
      };
      const [hers, foreign] = [await begin(alice), await begin(carol)];
      const stateless = await carol.runs.create(null, assistant_id, { input: {}, afterSeconds: 600 });
      // More than are deleted at a time.
      await gantry.sql.query(
        `INSERT INTO threads (thread_id, tenant_id, status, metadata)
         SELECT gen_random_uuid(), tenant_id, 'idle', metadata FROM threads, generate_series(1, 120) WHERE thread_id = $1`,
        [foreign.ended],
      );

      const url = `${gantry.url}/assistants/${assistant_id}?delete_threads=true`;
      const deleted = await fetch(url, { method: 'DELETE', headers: { authorization: 'Bearer alice' } });
      expect(deleted.status).toBe(204);

      expect(await status(alice.threads.get(hers.ended))).toBe(404);
      expect(await status(alice.threads.get(hers.waiting))).toBe(404);
      const left = await carol.threads.search({ metadata: { assistant_id }, limit: 1_000 });
      expect(left.map((each) => each.thread_id)).toEqual(expect.arrayContaining([foreign.ended, foreign.waiting]));
      expect(left).toHaveLength(122);
      expect((await carol.runs.get(foreign.waiting, foreign.run_id)).status).toBe('pending');
      const { rows } = await gantry.sql.query(`SELECT status FROM runs WHERE run_id = $1`, [stateless.run_id]);
      expect(rows).toEqual([{ status: 'pending' }]);
    });

    it('deleting an assistant asks about each thread that it is running on, and asks nothing when there is none', async () => {
      const { assistant_id: unused } = await alice.assistants.create({ graphId: 'whoami' });
      expect(await status(alice.assistants.delete(unused))).toBe(200);

      const { assistant_id } = await alice.assistants.create({ graphId: 'whoami' });
      const begin = async (threadId: string) => {
        await alice.threads.create({ threadId });
        const { run_id } = await alice.runs.create(threadId, assistant_id, { input: {}, afterSeconds: 600 });
        return async () => (await alice.runs.get(threadId, run_id)).status;
      };
      const [free, locked] = [await begin(randomUUID()), await begin(randomUUID().replace(/^.{8}/, '00000000'))];
      expect(await status(alice.assistants.delete(assistant_id))).toBe(200);
      expect([await free(), await locked()]).toEqual(['interrupted', 'pending']);
    });

    it('the default assistants are hidden by a filter for owners, and shown by one that names what the system created', async () => {
      const carol = as('carol');
      const { assistant_id: own } = await carol.assistants.create({ graphId: 'whoami', name: 'hers' });
      const { assistant_id: foreign } = await alice.assistants.create({ graphId: 'whoami', name: 'not hers' });
      const found = await carol.assistants.search();
      const standard = found.find(({ metadata }) => metadata?.created_by === 'system')!;
      expect(found.map((each) => each.assistant_id).sort()).toEqual([own, standard.assistant_id].sort());
      expect(await status(carol.assistants.get(foreign))).toBe(404);

      const reads = (client: Client): Promise<unknown> => status(client.assistants.get(standard.assistant_id));
      expect([await reads(carol), await reads(bob)]).toEqual([200, 404]);
      // What users may see, they may still not change.
      expect(await status(carol.assistants.update(standard.assistant_id, { name: 'mine' }))).toBe(404);
      const card = async (name: string): Promise<number> =>
        (await fetch(`${gantry.url}/a2a/whoami`, { headers: { authorization: `Bearer ${name}` } })).status;
      expect([await card('carol'), await card('bob')]).toEqual([200, 404]);
      const tools = async (name: string): Promise<string[]> => {
        const headers = { authorization: `Bearer ${name}` };
        const client = await connectMcp(gantry.url, { era: '2026-07-28', headers });
        const listed = await client.listTools();
        await client.close();
        return listed.tools.map((tool) => tool.name);
      };
      expect(await tools('carol')).toEqual(['whoami', 'hers']);
      expect(await tools('bob')).not.toContain('whoami');
    });

    it('the store is separate for each user where a handler rewrites namespaces, and hides what a filter excludes', async () => {
      await alice.store.putItem(['notes'], 'one', { text: 'hers', locked: 'yes' });
      await alice.store.putItem(['notes'], 'two', { text: 'hers', locked: 'no' });
      await bob.store.putItem(['notes'], 'one', { text: 'his', locked: 'no' });
      expect((await alice.store.getItem(['notes'], 'one'))?.value).toEqual({ text: 'hers', locked: 'yes' });
      expect((await bob.store.searchItems(['notes'])).items.map(({ value }) => value.text)).toEqual(['his']);
      expect((await bob.store.listNamespaces({})).namespaces).toEqual([['bob', 'notes']]);
      await alice.store.deleteItem(['notes'], 'one');
      await alice.store.deleteItem(['notes'], 'two');
      expect((await alice.store.searchItems(['notes'])).items.map(({ key }) => key)).toEqual(['one']);
    });

    it('an idempotency key belongs to its user', async () => {
      const send = (name: string): Promise<Response> =>
        ask({ authorization: `Bearer ${name}`, 'idempotency-key': 'the-same' }, '/runs', {
          assistant_id: 'whoami',
          input: {},
        });
      const [one, again, other] = [await send('alice'), await send('alice'), await send('bob')];
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(other.headers.get('idempotency-replayed')).toBeNull();
      const ids = await Promise.all(
        [one, again, other].map(async (each) => ((await each.json()) as { run_id: string }).run_id),
      );
      expect(ids[1]).toBe(ids[0]);
      expect(ids[2]).not.toBe(ids[0]);
    });
  });

  describe('crons', () => {
    const yearly = { schedule: '0 0 1 1 *', input: { said: 'tick' } };
    const lastUser = async (threadId: string): Promise<unknown> => {
      const { values } = await waitFor('the end of the run', async () => {
        const thread = await alice.threads.get<{ user?: { langgraph_auth_user: unknown } }>(threadId);
        return thread.status === 'idle' && thread.values?.user && thread;
      });
      return values.user?.langgraph_auth_user;
    };
    const cronPath = (id: string, verb = ''): string => `${gantry.url}/runs/crons/${id}${verb}`;
    const post = (name: string, path: string, body: object = {}): Promise<Response> =>
      fetch(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${name}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });

    it('belong to their creators: for others they do not exist, on any route', async () => {
      const cron = await alice.crons.create('whoami', { ...yearly, metadata: { topic: 'secret' } });
      const { cron_id } = cron;
      expect(cron).toMatchObject({ user_id: 'alice', metadata: { topic: 'secret', owner: 'alice' } });
      expect(JSON.stringify(cron)).not.toContain('blue');
      const get = (name: string, verb = ''): Promise<Response> =>
        fetch(cronPath(cron_id, verb), { headers: { authorization: `Bearer ${name}` } });
      expect((await get('alice')).status).toBe(200);
      const tries: [string, Promise<unknown>][] = [
        ['get', get('bob')],
        ['runs', get('bob', '/runs')],
        ['patch', bob.crons.update(cron_id, { schedule: '@daily' })],
        ['delete', bob.crons.delete(cron_id)],
        ['pause', post('bob', cronPath(cron_id, '/pause'))],
        ['resume', post('bob', cronPath(cron_id, '/resume'))],
        ['trigger', post('bob', cronPath(cron_id, '/trigger'))],
        ['backfill', post('bob', cronPath(cron_id, '/backfill'), { start: '2026-01-01', end: '2026-01-02' })],
      ];
      for (const [name, outcome] of tries) {
        const answer = await outcome.then(
          (value) => (value instanceof Response ? value.status : 200),
          (error: { status?: number }) => error.status,
        );
        expect([name, answer]).toEqual([name, 404]);
      }
      expect((await alice.crons.search()).map((each) => each.cron_id)).toContain(cron_id);
      expect(await bob.crons.search()).toEqual([]);
      const count = await post('bob', `${gantry.url}/runs/crons/count`);
      expect(await count.json()).toBe(0);
      // Runs on a thread or with an assistant of another user are refused as well.
      const { thread_id } = await alice.threads.create();
      expect(await status(bob.crons.createForThread(thread_id, 'whoami', yearly))).toBe(404);
    });

    it('run on behalf of their owners, on schedule and by hand, and may lose the permission to', async () => {
      const { thread_id } = await alice.threads.create();
      const { cron_id } = await alice.crons.createForThread(thread_id, 'whoami', {
        ...yearly,
        schedule: '* * * * * *',
      });
      const asAlice = { identity: 'alice', team: 'blue', permissions: ['read', 'write'] };
      expect(await lastUser(thread_id)).toMatchObject(asAlice);
      const [run] = await alice.runs.list(thread_id);
      expect(run.metadata).toMatchObject({ owner: 'alice', created_by: 'system', cron_id });
      expect(JSON.stringify(run)).not.toContain('blue');
      await alice.crons.update(cron_id, { schedule: '0 0 1 1 *' });
      const triggered = await post('alice', cronPath(cron_id, '/trigger'));
      const { run_id } = (await triggered.json()) as { run_id: string };
      await alice.runs.join(thread_id, run_id);
      expect(await lastUser(thread_id)).toMatchObject(asAlice);
      // The creator may only read by now, so the module refuses the request.
      await gantry.sql.query(
        `UPDATE crons SET auth_user = auth_user || '{"permissions": ["read"], "identity": "fired"}' WHERE cron_id = $1`,
        [cron_id],
      );
      // A success of what the schedule began before may still count as the newest outcome; the cron stops in any case.
      expect((await post('alice', cronPath(cron_id, '/trigger'))).status).toBe(404);
      const shown = await waitFor('the cron to stop', async () => {
        const response = await fetch(cronPath(cron_id), { headers: { authorization: 'Bearer alice' } });
        const cron = (await response.json()) as { status_reason: string | null };
        return cron.status_reason !== null && cron;
      });
      expect(shown.status_reason).toBe(`Thread ${thread_id} no longer belongs to the cron's owner`);
    });
  });

  it('a relative webhook calls on behalf of the run’s owner', async () => {
    const call = async (name: string, webhook: string): Promise<{ outcome: string | null; code: number | null }> => {
      const { thread_id } = await as(name).threads.create();
      const { run_id } = await as(name).runs.create(thread_id, 'whoami', { input: { said: 'hi' }, webhook });
      return waitFor('the delivery', async () => {
        const { rows } = await gantry.sql.query<{ outcome: string | null; code: number | null }>(
          `SELECT last_outcome AS outcome, last_response_code AS code FROM webhook_deliveries
           WHERE run_id = $1 AND attempt_count > 0 AND last_outcome IS NOT NULL`,
          [run_id],
        );
        return rows[0];
      });
    };
    const { thread_id: hers } = await alice.threads.create();
    // The body is a run's: with the fields that a search and a copy read, it is one of these as well.
    expect(await call('alice', `/threads/${hers}/copy`)).toEqual({ outcome: 'delivered', code: 200 });
    expect(await call('bob', `/threads/${hers}/copy`)).toEqual({ outcome: 'client_error', code: 404 });
    // Routes that take an API key refuse users.
    expect(await call('alice', '/api/v1/runs/query')).toEqual({ outcome: 'client_error', code: 401 });
    const [copy] = await alice.threads.search({ sortBy: 'created_at', limit: 1 });
    expect(copy.metadata).toMatchObject({ owner: 'alice' });
  });

  it('a thread’s stream is its owner’s', async () => {
    const { thread_id } = await alice.threads.create();
    const follow = (name: string): Promise<Response> =>
      fetch(`${gantry.url}/threads/${thread_id}/stream`, { headers: { authorization: `Bearer ${name}` } });
    const [own, other] = [await follow('alice'), await follow('bob')];
    await own.body?.cancel();
    expect([own.status, other.status]).toEqual([200, 404]);
  });

  it('a thread’s events are its owner’s, also when the thread does not exist yet at subscription', async () => {
    const { thread_id: there } = await alice.threads.create();
    const coming = randomUUID();
    const headers = { authorization: 'Bearer bob' };
    const streamOf = (thread: string): Promise<Response> =>
      ask(headers, `/threads/${thread}/stream/events`, { channels: ['values'] });
    const socketOf = (thread: string): Promise<ThreadSocket> =>
      ThreadSocket.open(socketUrl(gantry.url, thread), { headers });
    const subscribe = (socket: ThreadSocket): Promise<SocketReply> =>
      socket.command('subscription.subscribe', { channels: ['values'] });

    const refused = await socketOf(there);
    const closed = once(refused.socket, 'close');
    expect(await subscribe(refused)).toMatchObject({ type: 'error', message: `Thread with ID ${there} not found` });
    expect((await closed)[0]).toBe(4404);
    expect((await streamOf(there)).status).toBe(404);

    const waiting = await socketOf(coming);
    const end = once(waiting.socket, 'close');
    expect(await subscribe(waiting)).toMatchObject({ type: 'success' });
    const stream = new SseReader(await streamOf(coming));
    await alice.runs.create(coming, 'whoami', { input: { said: 'hers' }, ifNotExists: 'create' });
    const error = { type: 'error', id: null, message: `Thread with ID ${coming} not found` };
    expect(await stream.rest()).toMatchObject([{ event: 'error', data: error }]);
    expect((await end)[0]).toBe(4404);
    expect(waiting.received.at(-1)).toMatchObject(error);
    expect(JSON.stringify(waiting.received)).not.toContain('hers');
  });

  describe('agents and tools', () => {
    it('belong to the owner of the assistant, and a task to the owner of the thread', async () => {
      const { assistant_id } = await alice.assistants.create({ graphId: 'whoami', name: 'Mine' });
      const shared = await as('auditor').assistants.create({ graphId: 'whoami', name: 'Auditor' });
      const agent = (name: string, id = assistant_id): AgentCaller =>
        new AgentCaller(gantry.url, id, { 'a2a-version': '1.0', authorization: `Bearer ${name}` });
      const anonymous = await new AgentCaller(gantry.url, assistant_id).post('{}');
      expect(anonymous.status).toBe(401);
      expect((await new AgentCaller(gantry.url, assistant_id, { 'x-api-key': API_KEY }).post('{}')).status).toBe(401);
      expect((await agent('bob').post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks' }))).status).toBe(
        404,
      );

      const { thread_id } = await alice.threads.create();
      const task = await agent('alice').send([{ data: { said: 'hi' } }], { contextId: thread_id });
      expect(JSON.stringify(task.artifacts)).toContain('"identity":"alice"');
      expect((await agent('alice').get(task.id)).status.state).toBe('TASK_STATE_COMPLETED');
      const listed = await agent('alice').result<{ tasks: { id: string }[] }>('ListTasks', { contextId: thread_id });
      expect(listed.tasks.map(({ id }) => id)).toEqual([task.id]);

      // The thread of another user isn't a context, whichever agent is called.
      const stranger = agent('auditor', shared.assistant_id);
      const refused = await stranger.call(
        'SendMessage',
        toMessage([{ data: { said: 'hi' } }], { contextId: thread_id }),
      );
      expect(refused.error?.code).toBe(-32_602);
    });

    it('have contexts of the same name for several users, and continue those of before', async () => {
      const carol = as('carol');
      const { assistant_id } = await carol.assistants.create({ graphId: 'whoami', metadata: { team: 'blue' } });
      const threadOf = async (name: string, contextId: string): Promise<string> => {
        const headers = { 'a2a-version': '1.0', authorization: `Bearer ${name}` };
        const task = await new AgentCaller(gantry.url, assistant_id, headers).send([{ data: { said: 'hi' } }], {
          contextId,
        });
        expect([task.status.state, task.contextId]).toEqual(['TASK_STATE_COMPLETED', contextId]);
        const sql = `SELECT thread_id FROM a2a_tasks WHERE task_id = $1`;
        return (await gantry.sql.query<{ thread_id: string }>(sql, [task.id])).rows[0].thread_id;
      };
      const hers = await threadOf('carol', 'default');
      const others = await threadOf('dave', 'default');
      expect(others).not.toBe(hers);
      expect([await threadOf('carol', 'default'), await threadOf('dave', 'default')]).toEqual([hers, others]);

      // Threads of contexts once had ids that didn't depend on their users.
      const { rows } = await gantry.sql.query<{ tenant_id: string }>('SELECT tenant_id FROM threads LIMIT 1');
      const earlier = uuidv5(`${rows[0].tenant_id}/earlier`, '0b3f6a52-5f0c-4a57-9d0e-2f4f6f1f7c11');
      await carol.threads.create({ threadId: earlier });
      expect(await threadOf('carol', 'earlier')).toBe(earlier);
      expect(await threadOf('dave', 'earlier')).not.toBe(earlier);
      await carol.assistants.delete(assistant_id);
    });

    it('hide the tasks of one user from another who may use the same agent', async () => {
      const { assistant_id } = await alice.assistants.create({ graphId: 'whoami', name: 'Lent' });
      // A state that only an operator can bring about: the assistant becomes bob's, the task stays alice's.
      const { thread_id } = await alice.threads.create();
      const caller = (name: string): AgentCaller =>
        new AgentCaller(gantry.url, assistant_id, { 'a2a-version': '1.0', authorization: `Bearer ${name}` });
      const { id } = await caller('alice').send([{ data: { said: 'hi' } }], { contextId: thread_id });
      await gantry.sql.query(`UPDATE assistants SET metadata = metadata || '{"owner":"bob"}' WHERE assistant_id = $1`, [
        assistant_id,
      ]);
      const bobs = caller('bob');
      for (const [method, params] of [
        ['GetTask', { id }],
        ['CancelTask', { id }],
        ['SubscribeToTask', { id }],
        ['ListTaskPushNotificationConfigs', { taskId: id }],
      ] as const) {
        expect([method, await bobs.code(method, params)]).toEqual([method, -32_001]);
      }
      expect(await bobs.result('ListTasks', {})).toMatchObject({ tasks: [], totalSize: 0 });
    });

    it.each(ERAS)('are tools to their owner only, in %s', async (era) => {
      const { name } = await alice.assistants.create({ graphId: 'whoami', name: `Tool ${era}` });
      const connect = (user: string) => connectMcp(gantry.url, { era, headers: { authorization: `Bearer ${user}` } });
      const [hers, his] = await Promise.all([connect('alice'), connect('bob')]);
      try {
        const tool = (await hers.listTools()).tools.find(({ title }) => title === name)!;
        expect((await his.listTools()).tools.map(({ title }) => title)).not.toContain(name);
        const called = await hers.callTool({ name: tool.name, arguments: { said: 'hi' } });
        expect(JSON.stringify(called.structuredContent)).toContain('"identity":"alice"');
        await expect(his.callTool({ name: tool.name, arguments: { said: 'hi' } })).rejects.toThrow(/nknown|not found/);
      } finally {
        await Promise.all([hers.close(), his.close()]);
      }
      await expect(connectMcp(gantry.url, { era, headers: { 'x-api-key': API_KEY } })).rejects.toThrow();
    });

    it('bind a session of MCP to its user', async () => {
      const begin = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
      const { headers } = await postMcp(
        gantry.url,
        { jsonrpc: '2.0', id: 1, method: 'initialize', params: begin },
        { authorization: 'Bearer alice' },
      );
      const session = { 'mcp-session-id': headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25' };
      const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
      expect((await postMcp(gantry.url, list, { ...session, authorization: 'Bearer alice' })).status).toBe(200);
      expect((await postMcp(gantry.url, list, { ...session, authorization: 'Bearer bob' })).status).toBe(404);
    });
  });

  it('is described to clients in the description of the API', async () => {
    const document = (await (await fetch(`${gantry.url}/openapi.json`)).json()) as {
      components: { securitySchemes: object };
      paths: Record<string, Record<string, { security?: object[] }>>;
    };
    expect(document.components.securitySchemes).toMatchObject({
      api_key: { type: 'apiKey' },
      oauth: { type: 'oauth2' },
    });
    expect(document.paths['/threads'].post.security).toEqual([{ oauth: ['chat'] }]);
    expect(document.paths['/store/items'].put.security).toEqual([]);
    expect(document.paths['/api/v1/sessions'].get.security).toBeUndefined();
    expect(JSON.stringify(document)).not.toContain('custom_auth');
  });

  it('calls the module once for requests with equal values of the headers in auth.cache', async () => {
    const visits = async (headers: Record<string, string>): Promise<number> => {
      const answer = await ask({ authorization: 'Bearer counted', ...headers }, '/threads', {});
      return ((await answer.json()) as { metadata: { visits: number } }).metadata.visits;
    };
    const first = await visits({ 'x-other': '1' });
    expect(await visits({ 'x-other': '2' })).toBe(first);
    expect(await visits({ 'x-device': 'phone' })).toBe(first + 1);
  });

  it('serves the public Python client', async () => {
    expect(JSON.parse(await runPython([SCRIPT, gantry.url]))).toEqual({
      anonymous: 401,
      owner: 'alice',
      user: 'alice',
      streamed: ['metadata', 'values', 'values'],
      hers: [true],
      his: [],
      refused: { get: 404, state: 404, update: 404, run: 404, delete: 404 },
      cron: { user: 'alice', metadata: { topic: 'python', owner: 'alice' } },
      crons: { hers: expect.arrayContaining([true]), his: [], count: 0, update: 404, delete: 404 },
      store: [true, false],
      sync: true,
    });
  });

  if (config === 'langgraph-python.json') {
    it('serves others again after calls that hang in all threads of the module', async () => {
      // More than there are threads.
      const hanging = Array.from({ length: 40 }, () => ask({ authorization: 'Bearer thread-hang' }));
      expect(new Set((await Promise.all(hanging)).map((answer) => answer.status))).toEqual(new Set([500]));
      const isServed = async () => (await ask({ authorization: 'Bearer thread' })).status === 200;
      await waitFor('an answer to another user', isServed, 30_000);
    });
  }

  it('serves others while a call of the module hangs, and restarts a module that blocks', async () => {
    const hanging = ask({ authorization: 'Bearer hang' });
    expect((await fetch(`${gantry.url}/ok`)).status).toBe(200);
    expect((await hanging).status).toBe(500);
    const deadline = Date.now() + 90_000;
    let last = 0;
    while (last !== 200 && Date.now() < deadline) last = (await ask({ authorization: 'Bearer alice' })).status;
    expect(last).toBe(200);
  });
});
