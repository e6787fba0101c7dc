import { getDataSourceToken } from '@nestjs/typeorm';
import { Client, Pool } from 'pg';
import { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { dataSourceOptions } from '../../src/database/data-source';
import { acrossTenants, inScope } from '../../src/database/request-scope';
import { settingTenant, TenantConnections } from '../../src/graphs/host/tenant-connections';
import { isolateTenants } from '../../src/database/tenant-isolation';
import { ThreadEntity } from '../../src/threads/thread.entity';
import { ThreadsRepository } from '../../src/threads/threads.repository';
import { startTestApi, type TestApi } from '../support/api';
import { createTestDatabase, type TestDatabase } from '../support/database';

const ONE = uuidv7();
const OTHER = uuidv7();

interface Row {
  thread_id: string;
  tenant_id: string;
}

describe('row-level security between tenants', () => {
  let database: TestDatabase;
  let source: DataSource;
  let admin: Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    admin = new Pool({ connectionString: database.url, max: 2 });
    source = await new DataSource(dataSourceOptions(database.url, 1)).initialize();
    for (const tenantId of [ONE, OTHER]) {
      await admin.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'a tenant')`, [tenantId]);
      await admin.query(`INSERT INTO threads (thread_id, tenant_id, metadata) VALUES ($1, $2, '{"of": "both"}')`, [
        uuidv7(),
        tenantId,
      ]);
    }
  });

  afterAll(async () => {
    await source?.destroy();
    await admin?.end();
    await database?.drop();
  });

  const as = <T>(tenantId: string | undefined, sql: string, parameters: unknown[] = []): Promise<T[]> =>
    inScope({ tenantId }, () => source.query<T[]>(sql, parameters));
  const tenantsOf = (rows: Row[]): string[] => rows.map(({ tenant_id }) => tenant_id);

  it('shows a query without its WHERE only the rows of its own tenant', async () => {
    const all = 'SELECT tenant_id FROM threads';
    expect(tenantsOf(await as(ONE, all))).toEqual([ONE]);
    expect(tenantsOf(await as(OTHER, all))).toEqual([OTHER]);
    expect(tenantsOf(await as(OTHER, `${all} WHERE metadata @> '{"of": "both"}'`))).toEqual([OTHER]);
  });

  it('shows a request without a tenant nothing', async () => {
    expect(await as(undefined, 'SELECT tenant_id FROM threads')).toEqual([]);
  });

  it('prevents changing or deleting rows of another tenant', async () => {
    const [changed] = (await as(
      ONE,
      `UPDATE threads SET metadata = '{"by": "one"}' RETURNING tenant_id`,
    )) as unknown as [Row[]];
    expect(tenantsOf(changed)).toEqual([ONE]);
    const { rows } = await admin.query(`SELECT metadata FROM threads WHERE tenant_id = $1`, [OTHER]);
    expect(rows).toEqual([{ metadata: { of: 'both' } }]);
    await as(ONE, `DELETE FROM threads`);
    const left = await admin.query<Row>('SELECT tenant_id FROM threads');
    expect(tenantsOf(left.rows)).toEqual([OTHER]);
    await admin.query(`INSERT INTO threads (thread_id, tenant_id) VALUES ($1, $2)`, [uuidv7(), ONE]);
  });

  it('prevents writing a row into another tenant, or moving one there', async () => {
    await expect(
      as(ONE, 'INSERT INTO threads (thread_id, tenant_id) VALUES ($1, $2)', [uuidv7(), OTHER]),
    ).rejects.toThrow(/row-level security/);
    await expect(as(ONE, 'UPDATE threads SET tenant_id = $1', [OTHER])).rejects.toThrow(/row-level security/);
  });

  it('hides keys, tenants and the migrations from requests', async () => {
    const operators = ['api_keys', 'tenants', 'migrations', 'request_login', 'graph_login', 'tenant_token_key'];
    for (const table of [...operators, 'secret_key_check']) {
      await expect(as(ONE, `SELECT * FROM ${table}`)).rejects.toThrow(/permission denied/);
    }
    await expect(as(ONE, 'DROP TABLE threads')).rejects.toThrow(/must be owner/);
  });

  it('shows work outside of requests every row, also when a request started it', async () => {
    expect(tenantsOf(await source.query('SELECT tenant_id FROM threads')).sort()).toEqual([ONE, OTHER].sort());
    const within = await inScope({ tenantId: ONE }, () =>
      acrossTenants(() => source.query<Row[]>('SELECT tenant_id FROM threads')),
    );
    expect(within).toHaveLength(2);
  });

  it('applies in transactions, and when one connection serves tenants in turn', async () => {
    for (const tenantId of [ONE, OTHER, ONE, ONE, OTHER]) {
      const seen = await inScope({ tenantId }, () =>
        source.transaction((manager) => manager.query<Row[]>('SELECT tenant_id FROM threads')),
      );
      expect(tenantsOf(seen)).toEqual([tenantId]);
    }
  });

  it('applies when many wait for the one connection at once', async () => {
    const seen = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const tenantId = index % 3 === 0 ? ONE : OTHER;
        return [tenantId, ...tenantsOf(await as(tenantId, 'SELECT tenant_id FROM threads'))];
      }),
    );
    for (const [asked, ...rows] of seen) expect(rows).toEqual([asked]);
  });

  it('costs no statement when the connection served the same caller before', async () => {
    await as(ONE, 'SELECT 1');
    const sent = jest.spyOn(Client.prototype, 'query');
    try {
      await as(ONE, 'SELECT 1');
      expect(sent).toHaveBeenCalledTimes(1);
      await as(OTHER, 'SELECT 1');
      expect(sent).toHaveBeenCalledTimes(3);
    } finally {
      sent.mockRestore();
    }
  });

  it('applies on a connection of a graph process that serves tenants in turn, also after a statement that failed', async () => {
    const pool = new Pool({ connectionString: database.url, max: 1 });
    const [one, other] = [ONE, OTHER].map((tenantId) => new TenantConnections(pool, { tenantId }));
    const shown = `SELECT current_setting('gantry.tenant_id') AS tenant`;
    const setting = `${shown} WHERE ${settingTenant(1, '8 / $1::int > 0')}`;
    try {
      expect((await one.querySettingTenant(setting, [1])).rows).toEqual([{ tenant: ONE }]);
      expect((await other.query(shown, [])).rows).toEqual([{ tenant: OTHER }]);
      expect((await one.querySettingTenant(setting, [1])).rows).toEqual([{ tenant: ONE }]);
      await expect(other.querySettingTenant(setting, [0])).rejects.toThrow('division by zero');
      expect((await one.query(shown, [])).rows).toEqual([{ tenant: ONE }]);
      expect((await other.query(shown, [])).rows).toEqual([{ tenant: OTHER }]);
    } finally {
      await pool.end();
    }
  });

  describe('a table', () => {
    /** Tables with a tenant_id that row-level security doesn't bind. */
    const unprotected = async (): Promise<string[]> => {
      const { rows } = await admin.query<{ name: string }>(`
        SELECT c.relname AS name FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
        WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace NOT IN ('pg_catalog'::regnamespace)
          AND NOT (c.relrowsecurity AND EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND polname = 'tenant_isolation'))
        ORDER BY 1`);
      return rows.map(({ name }) => name);
    };

    it('with a tenant_id has its policy, without exception', async () => {
      expect(await unprotected()).toEqual([]);
    });

    it('without a policy is detected, and gets one with the next migration', async () => {
      await admin.query('CREATE TABLE forgotten (tenant_id uuid NOT NULL, secret text)');
      try {
        expect(await unprotected()).toEqual(['forgotten']);
        await admin.query(`INSERT INTO forgotten VALUES ($1, 'one'), ($2, 'other')`, [ONE, OTHER]);
        const client = await admin.connect();
        await isolateTenants(client).finally(() => client.release());
        expect(await unprotected()).toEqual([]);
        expect(await as(ONE, 'SELECT secret FROM forgotten')).toEqual([{ secret: 'one' }]);
      } finally {
        await admin.query('DROP TABLE forgotten');
      }
    });

    it('that is a partition cannot be read except through its parent', async () => {
      await expect(as(ONE, 'SELECT * FROM run_events_default')).rejects.toThrow(/permission denied/);
    });
  });

  it("leaves Postgres' own functions unchanged", async () => {
    const { rows } = await admin.query<{ proleakproof: boolean }>(
      `SELECT proleakproof FROM pg_proc WHERE oid = 'jsonb_contains(jsonb, jsonb)'::regprocedure`,
    );
    expect(rows).toEqual([{ proleakproof: false }]);
  });
});

describe('the api', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });

  afterAll(() => api?.close());

  it('is under row-level security: a request cannot see what its own tenant does not own', async () => {
    const source = api.app.get<DataSource>(getDataSourceToken());
    const other = uuidv7();
    const threadId = uuidv7();
    await source.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'other')`, [other]);
    await source.query(`INSERT INTO threads (thread_id, tenant_id) VALUES ($1, $2)`, [threadId, other]);
    // A query without its tenant condition, in the middle of a request.
    const forgetful = jest
      .spyOn(api.app.get(ThreadsRepository, { strict: false }), 'findThread')
      .mockImplementation((_tenantId, id) => source.getRepository(ThreadEntity).findOneBy({ threadId: id }));
    try {
      const response = await fetch(`${api.url}/threads/${threadId}`);
      expect(response.status).toBe(404);
      expect(forgetful).toHaveBeenCalled();
    } finally {
      forgetful.mockRestore();
    }
  });
});
