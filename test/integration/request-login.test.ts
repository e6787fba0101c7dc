import { getDataSourceToken } from '@nestjs/typeorm';
import { Client, Pool } from 'pg';
import { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { dataSourceOptions } from '../../src/database/data-source';
import { inScope } from '../../src/database/request-scope';
import { checkGraphLogin, isolateTenants } from '../../src/database/tenant-isolation';
import { TenantTokens, TOKEN_REFUSED } from '../../src/database/tenant-token';
import { startTestApi, type TestApi } from '../support/api';
import { createTestDatabase, graphsUrlOf, requestsUrlOf, type TestDatabase } from '../support/database';
import { runToExit, TEST_GRAPHS } from '../support/gantry';
import { registerNamespace } from '../support/temporal';
import { TenantCaller } from '../support/two-tenants';
import { testVariables } from '../support/variables';

const ADMIN_KEY = 'the-admin-key-0123456789';

interface Table {
  schema: string;
  name: string;
  hasTenant: boolean;
}

/** Every table, including partitions and LangGraph's own. */
const TABLES = `
  SELECT relnamespace::regnamespace::text AS schema, relname AS name,
    EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id' AND NOT attisdropped) AS "hasTenant"
  FROM pg_class c
  WHERE relkind IN ('r', 'p') AND relnamespace IN ('public'::regnamespace, 'langgraph'::regnamespace) ORDER BY 1, 2`;

describe('the login of requests', () => {
  let api: TestApi;
  let admin: Pool;
  let theirs: Client;
  let tenants: TenantCaller[];

  beforeAll(async () => {
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_ADMIN_KEY: ADMIN_KEY,
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      TEMPORAL_NAMESPACE: await registerNamespace(),
    });
    admin = new Pool({ connectionString: api.database.url, max: 1 });
    theirs = new Client({ connectionString: await requestsUrlOf(api.database.url) });
    await theirs.connect();
    tenants = [await TenantCaller.create(api.url, ADMIN_KEY), await TenantCaller.create(api.url, ADMIN_KEY)];
    for (const tenant of tenants) await tenant.acquire(admin);
  });

  afterAll(async () => {
    await theirs?.end();
    await admin?.end();
    await api?.close();
  });

  const count = async (client: Client | Pool, { schema, name }: Table, where = 'true'): Promise<number> =>
    Number(
      (await client.query<{ count: string }>(`SELECT count(*) FROM ${schema}.${name} WHERE ${where}`)).rows[0].count,
    );
  /** Undefined where the role may not read the table at all. */
  const seen = async (table: Table, tenantId: string): Promise<number | undefined> => {
    await theirs.query(`SELECT set_config('gantry.tenant_id', $1, false)`, [tenantId]);
    try {
      return await count(theirs, table);
    } catch (error) {
      expect(error).toMatchObject({ code: '42501' });
      return undefined;
    }
  };

  it('is the one that requests run with', async () => {
    const source = api.app.get<DataSource>(getDataSourceToken());
    const who = 'SELECT session_user::text, current_user::text';
    const role = new URL(await requestsUrlOf(api.database.url)).username;
    const [inside] = await inScope({ tenantId: tenants[0].tenantId }, () => source.query<object[]>(who));
    expect(inside).toEqual({ session_user: role, current_user: role });
    const [outside] = await source.query<{ session_user: string }[]>(who);
    expect(outside.session_user).not.toBe(role);
  });

  it('sees no rows without a tenant, in any table, and with one its own rows only', async () => {
    const { rows: tables } = await admin.query<Table>(TABLES);
    const filled: string[] = [];
    for (const table of tables) {
      const { name, hasTenant } = table;
      expect([name, (await seen(table, '')) ?? 0]).toEqual([name, 0]);
      for (const { tenantId } of tenants) {
        const rows = await seen(table, tenantId);
        if (rows === undefined) continue;
        const own = hasTenant ? `tenant_id = '${tenantId}'` : `thread_id LIKE '${tenantId}/%'`;
        expect([name, rows]).toEqual([name, await count(admin, table, own)]);
        if (rows > 0) filled.push(name);
      }
    }
    // Rows of both tenants, since an empty table would prove nothing.
    for (const name of [
      'threads',
      'runs',
      'assistants',
      'crons',
      'store',
      'trace_runs',
      'checkpoints',
      'checkpoint_blobs',
    ]) {
      expect(filled.filter((each) => each === name)).toHaveLength(2);
    }
    expect(new Set(filled).size).toBeGreaterThan(15);
  });

  it('writes no state into a thread of another tenant', async () => {
    const [one, other] = tenants;
    await theirs.query(`SELECT set_config('gantry.tenant_id', $1, false)`, [one.tenantId]);
    const insert = `INSERT INTO langgraph.checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint) VALUES ($1, '', 'x', '{}')`;
    await expect(theirs.query(insert, [`${other.tenantId}/${uuidv7()}`])).rejects.toThrow(/row-level security/);
    await expect(theirs.query(insert, [uuidv7()])).rejects.toThrow(/row-level security/);
    const changed = await theirs.query(`UPDATE langgraph.checkpoints SET metadata = '{}' WHERE thread_id LIKE $1`, [
      `${other.tenantId}/%`,
    ]);
    expect(changed.rowCount).toBe(0);
  });

  it('cannot become another role', async () => {
    const { rows: roles } = await admin.query<{ rolname: string }>('SELECT rolname FROM pg_roles');
    const { rows: own } = await theirs.query<{ me: string }>('SELECT session_user::text AS me');
    const others = roles.map(({ rolname }) => rolname).filter((name) => name !== own[0].me);
    expect(others.length).toBeGreaterThan(5);
    for (const role of others) {
      for (const statement of ['SET ROLE', 'SET SESSION AUTHORIZATION']) {
        await expect(theirs.query(`${statement} "${role}"`)).rejects.toThrow(/permission denied|does not exist/);
      }
    }
    for (const statement of ['RESET ROLE', 'SET ROLE NONE', 'RESET SESSION AUTHORIZATION']) {
      await theirs.query(statement);
      await theirs.query(`SELECT set_config('gantry.tenant_id', '', false)`);
      expect((await theirs.query('SELECT FROM threads')).rowCount).toBe(0);
      await expect(theirs.query('SELECT FROM api_keys')).rejects.toThrow(/permission denied/);
    }
    await expect(theirs.query('ALTER TABLE threads DISABLE ROW LEVEL SECURITY')).rejects.toThrow(/must be owner/);
    await expect(theirs.query('SET row_security = off; SELECT FROM threads')).rejects.toThrow(/row-level security/);
    await theirs.query('RESET row_security');
  });

  it('reads a state by the same keys as without row-level security', async () => {
    const { rows } = await admin.query<{ thread_id: string }>(
      `INSERT INTO langgraph.checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint)
       SELECT $1 || '/' || t, '', lpad(i::text, 9, '0'), '{}' FROM generate_series(1, 200) AS t, generate_series(1, 50) AS i
       RETURNING thread_id`,
      [tenants[0].tenantId],
    );
    await admin.query('ANALYZE langgraph.checkpoints');
    await theirs.query(`SELECT set_config('gantry.tenant_id', $1, false)`, [tenants[0].tenantId]);
    const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM langgraph.checkpoints
      WHERE thread_id = '${rows[0].thread_id}' AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1`;
    const blocks = async (client: Client | Pool): Promise<number> => {
      // The first one reads the catalogue as well.
      await client.query(explain);
      const { rows: plans } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(explain);
      return plans[0]['QUERY PLAN'][0].Plan['Shared Hit Blocks'];
    };
    // One more has the key of tokens, which is asked for once.
    expect(await blocks(theirs)).toBe((await blocks(admin)) + 1);
  });
});

describe('the login of graph processes', () => {
  let database: TestDatabase;
  let admin: Client;
  let theirs: Client;
  let tokens: TenantTokens;
  const [one, other] = [uuidv7(), uuidv7()];
  const run = uuidv7();

  beforeAll(async () => {
    database = await createTestDatabase();
    admin = new Client({ connectionString: database.url });
    theirs = new Client({ connectionString: await graphsUrlOf(database.url) });
    await Promise.all([admin.connect(), theirs.connect()]);
    tokens = await TenantTokens.read(admin);
    for (const tenant of [one, other]) {
      await admin.query(
        `INSERT INTO langgraph.checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint) VALUES ($1, '', 'x', '{}')`,
        [`${tenant}/${uuidv7()}`],
      );
      await admin.query(`INSERT INTO langgraph.store (namespace_path, key, value) VALUES ($1, 'k', '{}')`, [tenant]);
    }
    await admin.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'one')`, [one]);
    await admin.query(`INSERT INTO threads (thread_id, tenant_id) VALUES ($1, $2)`, [run, one]);
    await admin.query(
      `INSERT INTO runs (run_id, tenant_id, thread_id, assistant_id, graph_id, status, attempt, kwargs, multitask_strategy)
       VALUES ($1, $2, $1, $1, 'graph', 'running', 3, '{}', 'enqueue')`,
      [run, one],
    );
  });

  afterAll(async () => {
    await theirs?.end();
    await admin?.end();
    await database?.drop();
  });

  const show = (token: string) => theirs.query(`SELECT set_config('gantry.tenant_token', $1, false)`, [token]);
  const as = (tenantId: string) => show(tenantId && tokens.ofCall(tenantId));
  const states = async (): Promise<number> => (await theirs.query('SELECT FROM langgraph.checkpoints')).rowCount!;

  it('has access to states and items of the store, and to no other table', async () => {
    const { rows: tables } = await admin.query<Table>(TABLES);
    await as(one);
    const open: string[] = [];
    for (const { schema, name } of tables) {
      const { rows } = await admin.query<{ may: boolean }>(
        `SELECT has_table_privilege($1, $2, 'DELETE, TRUNCATE') OR has_any_column_privilege($1, $2, 'SELECT, INSERT, UPDATE') AS may`,
        [theirs.user, `${schema}.${name}`],
      );
      if (rows[0].may) open.push(name);
    }
    expect(open.sort()).toEqual(['checkpoint_blobs', 'checkpoint_writes', 'checkpoints', 'store', 'store_embeddings']);
    for (const table of ['api_keys', 'webhook_deliveries', 'audit_log', 'runs', 'threads', 'graph_login', 'tenants']) {
      await expect(theirs.query(`SELECT FROM ${table}`)).rejects.toThrow(/permission denied/);
      await expect(theirs.query(`DELETE FROM ${table}`)).rejects.toThrow(/permission denied/);
    }
  });

  it('sees no state and no item without a tenant, and with one its own only', async () => {
    for (const [tenant, seen] of [
      ['', []],
      [one, [one]],
      [other, [other]],
    ] as const) {
      await as(tenant);
      const { rows } = await theirs.query<{ tenant: string }>(
        `SELECT split_part(thread_id, '/', 1) AS tenant FROM langgraph.checkpoints`,
      );
      expect(rows.map((row) => row.tenant)).toEqual(seen);
      const items = await theirs.query<{ tenant: string }>('SELECT namespace_path AS tenant FROM langgraph.store');
      expect(items.rows.map((row) => row.tenant)).toEqual(seen);
    }
    await as(one);
    await expect(
      theirs.query(
        `INSERT INTO langgraph.checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint) VALUES ($1, '', 'y', '{}')`,
        [`${other}/${uuidv7()}`],
      ),
    ).rejects.toThrow(/row-level security/);
  });

  it('gets no access from the tenant setting alone, which it could set to any value', async () => {
    await as('');
    await theirs.query(`SELECT set_config('gantry.tenant_id', $1, false)`, [one]);
    expect(await states()).toBe(0);
  });

  it('has access to its tenant’s data with a token of a run, as long as the attempt owns the run', async () => {
    await show(tokens.ofRun({ tenantId: one, runId: run, attempt: 3 }));
    expect(await states()).toBe(1);
    for (const attempt of [2, 4]) {
      await show(tokens.ofRun({ tenantId: one, runId: run, attempt }));
      await expect(states()).rejects.toMatchObject({ code: TOKEN_REFUSED });
    }
    await show(tokens.ofRun({ tenantId: other, runId: run, attempt: 3 }));
    await expect(states()).rejects.toMatchObject({ code: TOKEN_REFUSED });
  });

  it('has access to its tenant’s data with a token of a call, for some minutes', async () => {
    await as(one);
    expect(await states()).toBe(1);
    await show(tokens.ofCall(one, new Date(Date.now() - 301_000)));
    await expect(states()).rejects.toMatchObject({ code: TOKEN_REFUSED });
  });

  it('learns of a run only whether an attempt of its tenant owns it, from the owner’s own table', async () => {
    const holds = async (attempt: number): Promise<boolean> =>
      (await theirs.query<{ held: boolean }>('SELECT attempt_holds_run($1, $2) AS held', [run, attempt])).rows[0].held;
    await as(one);
    expect([await holds(3), await holds(2)]).toEqual([true, false]);
    await theirs.query(
      `CREATE TEMP TABLE runs AS SELECT '${run}'::uuid AS run_id, 2 AS attempt, 'running' AS status, '${one}'::uuid AS tenant_id`,
    );
    expect([await holds(3), await holds(2)]).toEqual([true, false]);
    await as(other);
    expect(await holds(3)).toBe(false);
  });
});

describe('functions that run with the rights of the owner', () => {
  it('look up tables in the schema only, and not among those that their caller created', async () => {
    const database = await createTestDatabase();
    const admin = new Client({ connectionString: database.url });
    await admin.connect();
    try {
      const { rows } = await admin.query<{ name: string; settings: string[] }>(
        `SELECT proname AS name, proconfig AS settings FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace`,
      );
      expect(rows.length).toBeGreaterThan(2);
      for (const { name, settings } of rows) expect([name, settings]).toEqual([name, ['search_path=public, pg_temp']]);
    } finally {
      await admin.end();
      await database.drop();
    }
  });
});

describe('a role that an administrator created for requests', () => {
  let database: TestDatabase;
  let admin: Client;
  const role = `requests_${uuidv7().replaceAll('-', '')}`;
  let url: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    admin = new Client({ connectionString: database.url });
    await admin.connect();
    await admin.query(`CREATE ROLE ${role} LOGIN NOINHERIT PASSWORD 'of-their-own'`);
    url = Object.assign(new URL(database.url), { username: role, password: 'of-their-own' }).href;
  });

  afterAll(async () => {
    await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await admin.end();
    await database.drop();
  });

  it('replaces the one that migrations create', async () => {
    await isolateTenants(admin, { requestsUrl: url });
    const source = await new DataSource(dataSourceOptions(database.url, 1, url)).initialize();
    try {
      const who = await inScope({ tenantId: uuidv7() }, () =>
        source.query<object[]>('SELECT session_user::text, (SELECT count(*)::int FROM threads) AS threads'),
      );
      expect(who).toEqual([{ session_user: role, threads: 0 }]);
    } finally {
      await source.destroy();
    }
  });

  it('leaves graph processes their own login, which requires tokens', async () => {
    await isolateTenants(admin, { requestsUrl: url });
    const tenant = uuidv7();
    await admin.query(`INSERT INTO langgraph.store (namespace_path, key, value) VALUES ($1, 'k', '{}')`, [tenant]);
    const graphs = new Client({ connectionString: await graphsUrlOf(database.url) });
    await graphs.connect();
    try {
      await graphs.query(`SELECT set_config('gantry.tenant_id', $1, false)`, [tenant]);
      expect((await graphs.query('SELECT FROM langgraph.store')).rowCount).toBe(0);
      const token = (await TenantTokens.read(admin)).ofCall(tenant);
      await graphs.query(`SELECT set_config('gantry.tenant_token', $1, false)`, [token]);
      expect((await graphs.query('SELECT FROM langgraph.store')).rowCount).toBe(1);
    } finally {
      await graphs.end();
    }
  });

  it('is refused for graph processes as well', async () => {
    const both = { requestsUrl: url, graphsUrl: url };
    await expect(isolateTenants(admin, both)).rejects.toThrow('GANTRY_GRAPHS_DATABASE_URL has to name another one');
    await isolateTenants(admin, { requestsUrl: url });
  });

  it.each([
    ['BYPASSRLS', 'NOBYPASSRLS', 'bypasses row-level security'],
    ['SUPERUSER', 'NOSUPERUSER', 'is a superuser'],
  ])('is refused with %s', async (right, without, reason) => {
    await admin.query(`ALTER ROLE ${role} ${right}`);
    await expect(isolateTenants(admin, { requestsUrl: url })).rejects.toThrow(reason);
    await admin.query(`ALTER ROLE ${role} ${without}`);
    await isolateTenants(admin, { requestsUrl: url });
  });

  it('is refused as a member of another role', async () => {
    await admin.query(`GRANT pg_read_all_data TO ${role}`);
    await expect(isolateTenants(admin, { requestsUrl: url })).rejects.toThrow('is a member of other roles');
    await admin.query(`REVOKE pg_read_all_data FROM ${role}`);
    await isolateTenants(admin, { requestsUrl: url });
  });
});

describe('a role that an administrator created for graph processes', () => {
  it('has to be given to every migration and process, since no other one is asked for tokens', async () => {
    const database = await createTestDatabase();
    const admin = new Client({ connectionString: database.url });
    await admin.connect();
    const role = `graphs_${uuidv7().replaceAll('-', '')}`;
    const graphsUrl = Object.assign(new URL(database.url), { username: role, password: 'of-their-own' }).href;
    try {
      await admin.query(`CREATE ROLE ${role} LOGIN NOINHERIT PASSWORD 'of-their-own'`);
      await checkGraphLogin(admin, undefined);
      const early = await runToExit('worker', testVariables(database.url, { GANTRY_GRAPHS_DATABASE_URL: graphsUrl }));
      expect(early.code).toBe(1);
      expect(early.output).toContain(`Graph processes would log in as "${role}"`);
      await isolateTenants(admin, { graphsUrl });
      await checkGraphLogin(admin, graphsUrl);
      await expect(checkGraphLogin(admin, undefined)).rejects.toThrow('nothing would keep tenants apart');
      await expect(isolateTenants(admin)).rejects.toThrow(`Graph processes log in as "${role}"`);
      await checkGraphLogin(admin, graphsUrl);
      await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      await isolateTenants(admin);
      await checkGraphLogin(admin, undefined);
    } finally {
      await admin.end();
      await database.drop();
    }
  });
});
