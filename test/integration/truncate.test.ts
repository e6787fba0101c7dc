import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { runWorkflowId } from '../../workflows/contracts/run.contract';
import { type ApiProcess, startApiProcess } from '../support/api-process';
import { Gantry, startGantry } from '../support/gantry';
import { TenantCaller } from '../support/two-tenants';
import { waitFor } from '../support/wait-for';

const ADMIN_KEY = 'the-admin-key-0123456789';
const OWN_USERS = join(__dirname, '..', 'support', 'auth', 'langgraph.json');
/** Time for some rounds of the sweeps, which run each second: rows that they would restore are back by then. */
const A_WHILE_MS = 3_000;
/** More than a transaction takes of them. */
const MANY_THREADS = 230;
const MANY_ITEMS = 1_100;

const ofThreads = (table: string): string =>
  `FROM langgraph.${table} WHERE thread_id IN (SELECT tenant_id || '/' || thread_id FROM threads WHERE tenant_id = $1)`;
/** Number of rows of each kind that a tenant has. */
const COUNTS = {
  threads: 'FROM threads WHERE tenant_id = $1',
  runs: 'FROM runs WHERE tenant_id = $1',
  events: 'FROM run_events WHERE tenant_id = $1',
  assistants: 'FROM assistants WHERE tenant_id = $1',
  versions: 'FROM assistant_versions WHERE tenant_id = $1',
  checkpoints: ofThreads('checkpoints'),
  blobs: ofThreads('checkpoint_blobs'),
  writes: ofThreads('checkpoint_writes'),
  items: 'FROM langgraph.store WHERE tenant_id = $1',
};
type Counts = Record<keyof typeof COUNTS, number>;

interface Run {
  run_id: string;
  status: string;
}

const ask = (url: string, body: string | undefined, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/internal/truncate`, { method: 'POST', headers, ...(body !== undefined && { body }) });
const JSON_TYPE = { 'content-type': 'application/json' };

describe('without GANTRY_TEST', () => {
  let api: ApiProcess;

  beforeAll(async () => {
    api = await startApiProcess();
  });

  afterAll(() => api?.close());

  it('is an unknown route, and not described', async () => {
    const response = await ask(api.url, '{"threads":true}', JSON_TYPE);
    expect([response.status, await response.text()]).toEqual([404, 'Not Found']);
    expect(await (await fetch(`${api.url}/openapi.json`)).text()).not.toContain('/internal');
  });
});

describe('with users of a custom auth', () => {
  let api: ApiProcess;

  beforeAll(async () => {
    api = await startApiProcess({ GANTRY_TEST: '1', GANTRY_CONFIG: OWN_USERS });
  });

  afterAll(() => api?.close());

  it.each(['threads', 'runs', 'checkpointer', 'assistants', 'store'])(
    'authenticates the caller, and refuses to wipe %s for a user who may delete only their own',
    async (flag) => {
      const body = JSON.stringify({ [flag]: true });
      expect((await ask(api.url, body, JSON_TYPE)).status).toBe(401);
      const alice = await ask(api.url, body, { ...JSON_TYPE, authorization: 'Bearer alice' });
      expect([alice.status, await alice.json()]).toEqual([403, { detail: 'Forbidden', code: 'forbidden' }]);
    },
  );
});

describe('POST /internal/truncate', () => {
  let gantry: Gantry;
  let alice: TenantCaller;
  let bob: TenantCaller;

  beforeAll(async () => {
    gantry = await startGantry({
      sweepSeconds: 1,
      graphProcesses: 1,
      env: { GANTRY_TEST: '1', GANTRY_AUTH: 'on', GANTRY_ADMIN_KEY: ADMIN_KEY },
    });
  });

  afterAll(() => gantry?.stop());

  beforeEach(async () => {
    [alice, bob] = await Promise.all([
      TenantCaller.create(gantry.url, ADMIN_KEY),
      TenantCaller.create(gantry.url, ADMIN_KEY),
    ]);
  });

  async function count({ tenantId }: TenantCaller): Promise<Counts> {
    const columns = Object.entries(COUNTS).map(([name, from]) => `(SELECT count(*)::int ${from}) AS ${name}`);
    const { rows } = await gantry.sql.query<Counts>(`SELECT ${columns.join(', ')}`, [tenantId]);
    return rows[0];
  }

  const truncate = async (who: TenantCaller, body: object): Promise<void> => {
    expect(await who.json('POST', '/internal/truncate', { body })).toEqual({ ok: true });
  };

  const createThread = async (who: TenantCaller): Promise<string> =>
    (await who.json<{ thread_id: string }>('POST', '/threads', { body: {} })).thread_id;

  const createRun = (who: TenantCaller, path: string, body: object): Promise<Run> => who.json('POST', path, { body });

  /** Resources of every kind: a thread with a finished run, a stateless run, an assistant, an item. */
  async function fill(who: TenantCaller): Promise<{ thread: string; assistant: string }> {
    const thread = await createThread(who);
    await who.json('POST', `/threads/${thread}/runs/wait`, { body: { assistant_id: 'three', input: {} } });
    await who.json('POST', '/runs/wait', { body: { assistant_id: 'three', input: {} } });
    const { assistant_id } = await who.json<{ assistant_id: string }>('POST', '/assistants', {
      body: { graph_id: 'three', name: who.marker },
    });
    await who.json('PATCH', `/assistants/${assistant_id}`, { body: { name: 'renamed' } });
    await who.json('PATCH', '/assistants/talk', { body: { name: 'patched' } });
    await who.json('PUT', '/store/items', { body: { namespace: [who.marker], key: 'one', value: { a: 1 } } });
    return { thread, assistant: assistant_id };
  }

  it('wipes what a flag names and nothing else, and nothing of another workspace', async () => {
    const [{ thread, assistant }] = await Promise.all([fill(alice), fill(bob)]);
    const his = await count(bob);
    const system = { assistants: his.assistants - 1, versions: his.versions - 2 };
    let hers = await count(alice);
    for (const amount of Object.values(hers)) expect(amount).toBeGreaterThan(0);

    await truncate(alice, {});
    await truncate(alice, { runs: false, threads: null });
    expect(await count(alice)).toEqual(hers);

    await truncate(alice, { store: true });
    expect(await count(alice)).toEqual((hers = { ...hers, items: 0 }));

    await truncate(alice, { assistants: true });
    expect(await count(alice)).toEqual((hers = { ...hers, ...system }));
    expect((await alice.send('GET', `/assistants/${assistant}`)).status).toBe(404);
    // As it was, its later version too.
    expect(await alice.json('GET', '/assistants/talk')).toMatchObject({ name: 'patched', version: 2 });

    await truncate(alice, { runs: true });
    expect(await count(alice)).toEqual((hers = { ...hers, runs: 0, events: 0 }));
    expect(await alice.json('GET', `/threads/${thread}`)).toMatchObject({
      status: 'idle',
      values: { done: ['node_1', 'node_2', 'node_3'] },
    });

    await truncate(alice, { checkpointer: true });
    expect(await count(alice)).toEqual((hers = { ...hers, checkpoints: 0, blobs: 0, writes: 0 }));
    expect(await alice.json('GET', `/threads/${thread}`)).toMatchObject({ status: 'idle', values: null });
    expect(await alice.json('GET', `/threads/${thread}/history`)).toEqual([]);

    await truncate(alice, { threads: true });
    expect(await count(alice)).toEqual({ ...hers, threads: 0 });
    expect((await alice.send('GET', `/threads/${thread}`)).status).toBe(404);
    expect(await count(bob)).toEqual(his);

    await truncate(bob, { runs: true, threads: true, assistants: true, checkpointer: true, store: true });
    expect(Object.values(await count(bob)).filter((amount) => amount > 0)).toEqual(Object.values(system));
    // A run on a server that was wiped is like the first.
    await fill(bob);
    expect(await count(bob)).toMatchObject({ threads: his.threads, runs: his.runs, checkpoints: his.checkpoints });
  });

  it('wipes more than it deletes in one batch', async () => {
    await gantry.sql.query(
      `INSERT INTO threads (thread_id, tenant_id) SELECT gen_random_uuid(), $1 FROM generate_series(1, ${MANY_THREADS})`,
      [alice.tenantId],
    );
    await gantry.sql.query(
      `INSERT INTO langgraph.store (namespace_path, key, value)
       SELECT $1::text || ':many', n, '{}' FROM generate_series(1, ${MANY_ITEMS}) AS n`,
      [alice.tenantId],
    );
    expect(await count(alice)).toMatchObject({ threads: MANY_THREADS, items: MANY_ITEMS });
    // Two suites that truncate at the same time.
    await Promise.all([1, 2].map(() => truncate(alice, { threads: true, store: true, assistants: true })));
    expect(await count(alice)).toMatchObject({ threads: 0, items: 0 });
  });

  it('allows an earlier idempotency key to create a run again', async () => {
    const thread = await createThread(alice);
    const call = { body: { assistant_id: 'three', input: {} }, headers: { 'idempotency-key': 'once' } };
    const first = await alice.json<Run>('POST', `/threads/${thread}/runs`, call);
    await truncate(alice, { runs: true });
    const second = await alice.json<Run>('POST', `/threads/${thread}/runs`, call);
    expect(second.run_id).not.toBe(first.run_id);
  });

  describe('with runs in flight', () => {
    const long = { assistant_id: 'sleep', input: { sleep_ms: 600_000 } };
    let thread: string;
    let running: Run;
    let queued: Run;
    let delayed: Run;

    /** Three runs: one that is running, one that waits for it, and one that is delayed. */
    beforeEach(async () => {
      thread = await createThread(alice);
      const path = `/threads/${thread}/runs`;
      running = await createRun(alice, path, long);
      await waitFor('the node to sleep', async () => (await gantry.ledger.of(running.run_id)).length > 0);
      queued = await createRun(alice, path, { assistant_id: 'three', input: {}, multitask_strategy: 'enqueue' });
      delayed = await createRun(alice, '/runs', { assistant_id: 'three', input: {}, after_seconds: 600 });
    });

    const isClosed = async ({ run_id }: Run): Promise<boolean> => {
      try {
        const { status } = await gantry.temporal.workflow.getHandle(runWorkflowId(run_id)).describe();
        return status.name !== 'RUNNING';
      } catch (error) {
        // A run that ends soon after its beginning has none.
        if (error instanceof WorkflowNotFoundError) return true;
        throw error;
      }
    };

    const untilQuiet = async (): Promise<void> => {
      await waitFor('the workflows to end', async () => (await isClosed(running)) && (await isClosed(delayed)));
      await sleep(A_WHILE_MS);
      expect(await gantry.ledger.of(queued.run_id)).toEqual([]);
    };

    it('deletes them with their threads, and nothing reappears', async () => {
      const joined = alice.send('GET', `/threads/${thread}/runs/${running.run_id}/join`);
      await truncate(alice, { threads: true });
      expect(await count(alice)).toMatchObject({ threads: 0, runs: 0, events: 0, checkpoints: 0 });
      // A client that waits for a run gets an answer.
      await (await joined).text();
      await untilQuiet();
      expect(await count(alice)).toMatchObject({ threads: 0, runs: 0, events: 0, checkpoints: 0 });
    });

    it('deletes them from their threads, which become free', async () => {
      await truncate(alice, { runs: true });
      expect(await alice.json('GET', `/threads/${thread}`)).toMatchObject({ status: 'idle' });
      await untilQuiet();
      expect(await count(alice)).toMatchObject({ runs: 0, events: 0 });
      await alice.json('POST', `/threads/${thread}/runs/wait`, { body: { assistant_id: 'three', input: {} } });
      expect(await alice.json('GET', `/threads/${thread}`)).toMatchObject({ status: 'idle' });
    });

    it('interrupts them before it deletes their checkpoints', async () => {
      await truncate(alice, { checkpointer: true });
      const runs = await alice.json<Run[]>('GET', `/threads/${thread}/runs`);
      expect(runs.map(({ status }) => status)).toEqual(['interrupted', 'interrupted']);
      await untilQuiet();
      expect(await count(alice)).toMatchObject({ checkpoints: 0, blobs: 0, writes: 0 });
      expect(await alice.json('GET', `/threads/${thread}`)).toMatchObject({ status: 'idle', values: null });
    });

    it('interrupts those of the deleted assistants', async () => {
      const { assistant_id } = await alice.json<{ assistant_id: string }>('POST', '/assistants', {
        body: { graph_id: 'sleep' },
      });
      const other = await createThread(alice);
      const { run_id } = await createRun(alice, `/threads/${other}/runs`, { ...long, assistant_id });
      await truncate(alice, { assistants: true });
      await waitFor('the run to end', async () => {
        const { status } = await alice.json<Run>('GET', `/threads/${other}/runs/${run_id}`);
        return status === 'interrupted';
      });
      // A run of a graph's default assistant, which is not affected.
      expect(await alice.json('GET', `/threads/${thread}/runs/${running.run_id}`)).toMatchObject({ status: 'running' });
      await truncate(alice, { threads: true });
    });
  });

  describe('refuses', () => {
    it('callers without a key', async () => {
      expect((await ask(gantry.url, '{"threads":true}', JSON_TYPE)).status).toBe(401);
      expect((await ask(gantry.url, '{}', { ...JSON_TYPE, 'x-api-key': 'wrong-key-0123456789' })).status).toBe(401);
    });

    it('unknown flags, naming them', async () => {
      const response = await alice.send('POST', '/internal/truncate', { body: { threads: 'yes', store: 1 } });
      expect(response.status).toBe(422);
      const { errors } = (await response.json()) as { errors: { path: string }[] };
      expect(errors.map(({ path }) => path)).toEqual(['threads', 'store']);
    });

    it.each([
      ['[]', 422],
      ['{"threads":', 422],
      ['', 422],
    ])('the body %j', async (body, status) => {
      const response = await ask(gantry.url, body, { ...JSON_TYPE, 'x-api-key': alice.key });
      expect(response.status).toBe(status);
    });

    it('another content type', async () => {
      const form = { 'content-type': 'application/x-www-form-urlencoded', 'x-api-key': alice.key };
      expect((await ask(gantry.url, 'threads=true', form)).status).toBe(415);
    });

    it('another method', async () => {
      const response = await alice.send('GET', '/internal/truncate');
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    });
  });

  it('is described while it is enabled', async () => {
    const { paths } = (await (await fetch(`${gantry.url}/openapi.json`)).json()) as { paths: Record<string, object> };
    expect(paths['/internal/truncate']).toMatchObject({ post: { tags: ['System'] } });
  });
});
