import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { createDataSource } from '../../src/database/data-source';
import { TenantThreads1700002130000 } from '../../src/database/migrations/1700002130000-tenant-threads';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { Gantry } from '../support/gantry';
import { TenantCaller } from '../support/two-tenants';
import { waitFor } from '../support/wait-for';

const ADMIN_KEY = 'the-admin-key-0123456789';
const FIRST_TENANT = '00000000-0000-0000-0000-000000000000';
const TABLES = ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes'];

interface State {
  values: { done?: string[] };
  checkpoint: { thread_id: string; checkpoint_id: string } | null;
}
type Run = Record<'run_id' | 'status', string>;

describe('threads of two tenants with the same id', () => {
  let gantry: Gantry;
  let alice: TenantCaller;
  let bob: TenantCaller;

  beforeAll(async () => {
    gantry = await Gantry.start({ graphProcesses: 1, env: { GANTRY_AUTH: 'on', GANTRY_ADMIN_KEY: ADMIN_KEY } });
    [alice, bob] = await Promise.all([
      TenantCaller.create(gantry.url, ADMIN_KEY),
      TenantCaller.create(gantry.url, ADMIN_KEY),
    ]);
  });

  afterAll(() => gantry?.stop());

  const run = (who: TenantCaller, id: string, done: string, stepMs = 0): Promise<Run> =>
    who.json('POST', `/threads/${id}/runs`, {
      body: { assistant_id: 'three', input: { done: [done], step_ms: stepMs }, if_not_exists: 'create' },
    });
  const stateOf = (who: TenantCaller, id: string): Promise<State> => who.json('GET', `/threads/${id}/state`);
  const statusOf = async (who: TenantCaller, id: string, { run_id }: Run): Promise<string> =>
    (await who.json<Run>('GET', `/threads/${id}/runs/${run_id}`)).status;
  const ended = (who: TenantCaller, id: string, which: Run): Promise<true | undefined> =>
    waitFor(`the end of ${who.marker}'s run`, async () => (await statusOf(who, id, which)) === 'success' || undefined);
  const keysOf = async (id: string): Promise<string[]> => {
    const { rows } = await gantry.sql.query<{ key: string }>(
      TABLES.map((table) => `SELECT thread_id AS key FROM langgraph.${table} WHERE thread_id LIKE '%' || $1`).join(
        ' UNION ',
      ),
      [id],
    );
    return rows.map(({ key }) => key).sort();
  };

  it('are created in each, and an answer reveals nothing of the other', async () => {
    const id = randomUUID();
    const hers = await alice.json<object>('POST', '/threads', { body: { thread_id: id, metadata: { of: 'alice' } } });
    expect(hers).toMatchObject({ metadata: { of: 'alice' } });
    const made = await bob.send('POST', '/threads', { body: { thread_id: id, metadata: { of: 'bob' } } });
    expect(made.status).toBe(200);
    expect((await bob.send('POST', '/threads', { body: { thread_id: id } })).status).toBe(409);
    const again = { thread_id: id, if_exists: 'do_nothing' };
    expect(await bob.json('POST', '/threads', { body: again })).toMatchObject({ metadata: { of: 'bob' } });
    expect(await alice.json('GET', `/threads/${id}`)).toMatchObject({ metadata: { of: 'alice' } });
  });

  it('run at the same time, each with its own state, history and events', async () => {
    const id = randomUUID();
    const [hers, his] = await Promise.all([run(alice, id, 'alice', 300), run(bob, id, 'bob', 300)]);
    await Promise.all([ended(alice, id, hers), ended(bob, id, his)]);
    const nodes = ['node_1', 'node_2', 'node_3'];
    for (const [who, name, own, other] of [
      [alice, 'alice', hers, his],
      [bob, 'bob', his, hers],
    ] as const) {
      const state = await stateOf(who, id);
      expect(state.values.done).toEqual([name, ...nodes]);
      expect(state.checkpoint?.thread_id).toBe(id);
      const thread = await who.json<State & { status: string }>('GET', `/threads/${id}`);
      expect(thread).toMatchObject({ status: 'idle', values: { done: [name, ...nodes] } });
      const history = await who.json<State[]>('POST', `/threads/${id}/history`, { body: { limit: 100 } });
      expect(history).toHaveLength(5);
      const runs = await who.json<Run[]>('GET', `/threads/${id}/runs`);
      expect(runs.map(({ run_id }) => run_id)).toEqual([own.run_id]);
      expect((await who.send('GET', `/threads/${id}/runs/${other.run_id}`)).status).toBe(404);
      const events = await (await who.send('GET', `/threads/${id}/runs/${own.run_id}/stream`)).text();
      expect(events).not.toContain(other.run_id);
    }
    expect(await keysOf(id)).toEqual([alice, bob].map(({ tenantId }) => `${tenantId}/${id}`).sort());
  });

  it('are edited, copied, pruned and deleted separately', async () => {
    const id = randomUUID();
    const [hers, his] = await Promise.all([run(alice, id, 'alice'), run(bob, id, 'bob')]);
    await Promise.all([ended(alice, id, hers), ended(bob, id, his)]);
    const before = await stateOf(bob, id);

    const edit = { values: { done: ['edited'] }, as_node: 'node_3' };
    await alice.json('POST', `/threads/${id}/state`, { body: edit });
    expect((await stateOf(alice, id)).values.done).toContain('edited');
    const copy = await alice.json<{ thread_id: string }>('POST', `/threads/${id}/copy`, { body: {} });
    expect((await stateOf(alice, copy.thread_id)).values).toEqual((await stateOf(alice, id)).values);
    await alice.json('POST', '/threads/prune', { body: { thread_ids: [id], strategy: 'keep_latest' } });
    expect(await stateOf(bob, id)).toEqual(before);
    // A checkpoint of hers under his own thread's id is as one that isn't there.
    const { checkpoint } = await stateOf(alice, id);
    const found = await bob.json<State>('GET', `/threads/${id}/state/${checkpoint!.checkpoint_id}`);
    expect(found.values).toEqual({});

    await alice.json('DELETE', `/threads/${id}`);
    expect((await alice.send('GET', `/threads/${id}`)).status).toBe(404);
    expect(await stateOf(bob, id)).toEqual(before);
    expect(await statusOf(bob, id, his)).toBe('success');
    expect(await keysOf(id)).toEqual([`${bob.tenantId}/${id}`]);
  });

  it('stop only their own crons when they are deleted', async () => {
    const id = randomUUID();
    const body = { assistant_id: 'three', schedule: '0 0 1 1 *' };
    const cronOf = async (who: TenantCaller): Promise<string> => {
      await who.json('POST', '/threads', { body: { thread_id: id } });
      return (await who.json<{ cron_id: string }>('POST', `/threads/${id}/runs/crons`, { body })).cron_id;
    };
    const [hers, his] = [await cronOf(alice), await cronOf(bob)];
    await alice.json('DELETE', `/threads/${id}`);
    expect(await alice.json('GET', `/runs/crons/${hers}`)).toMatchObject({ enabled: false });
    expect(await bob.json('GET', `/runs/crons/${his}`)).toMatchObject({ enabled: true });
  });
});

describe('a database from before threads were unique per tenant', () => {
  let database: TestDatabase;
  let source: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    source = await createDataSource(database.url).initialize();
  });

  afterAll(async () => {
    await source?.destroy();
    await database?.drop();
  });

  it('keeps every state with its thread', async () => {
    const migration = new TenantThreads1700002130000();
    const change = (direction: 'up' | 'down'): Promise<void> =>
      source.transaction((manager) => migration[direction](manager.queryRunner!));
    // Made by a later migration, it refers to the key that this one makes.
    await source.query('DROP TABLE mcp_tasks');
    await change('down');
    const other = randomUUID();
    const threads: Record<string, string> = { [FIRST_TENANT]: randomUUID(), [other]: randomUUID() };
    for (const [tenant, thread] of Object.entries(threads)) {
      await source.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'a tenant') ON CONFLICT DO NOTHING`, [
        tenant,
      ]);
      await source.query('INSERT INTO threads (tenant_id, thread_id) VALUES ($1, $2)', [tenant, thread]);
      await source.query(
        `INSERT INTO runs (run_id, tenant_id, thread_id, assistant_id, graph_id, kwargs, multitask_strategy)
         VALUES (gen_random_uuid(), $1, $2, gen_random_uuid(), 'three', '{}', 'enqueue')`,
        [tenant, thread],
      );
      await source.query(
        `INSERT INTO langgraph.checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint) VALUES ($1, '', 'c', '{}')`,
        [thread],
      );
      await source.query(
        `INSERT INTO langgraph.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type) VALUES ($1, '', 'c', '1', 'empty')`,
        [thread],
      );
      await source.query(
        `INSERT INTO langgraph.checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, blob)
         VALUES ($1, '', 'c', 't', 0, 'c', '')`,
        [thread],
      );
    }
    const keys = async (table: string): Promise<string[]> =>
      (await source.query<{ thread_id: string }[]>(`SELECT thread_id FROM langgraph.${table}`))
        .map(({ thread_id }) => thread_id)
        .sort();

    await change('up');
    const expected = [threads[FIRST_TENANT], `${other}/${threads[other]}`].sort();
    for (const table of TABLES) expect(await keys(table)).toEqual(expected);
    expect(await source.query('SELECT count(*)::int AS count FROM runs')).toEqual([{ count: 2 }]);

    await change('down');
    for (const table of TABLES) expect(await keys(table)).toEqual(Object.values(threads).sort());
    await change('up');
  });
});
