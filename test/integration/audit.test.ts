import { Client, Pool } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { ApiKey, CreatedApiKey, Tenant } from '../../src/auth/admin.schemas';
import { A2aPushService } from '../../src/a2a/a2a-push.service';
import { AuditChainRepository } from '../../src/audit/audit-chain.repository';
import { AuditChainSweep } from '../../src/audit/audit-chain.sweep';
import { AuditRetentionSweep } from '../../src/audit/audit-retention.sweep';
import { AuditVerificationService } from '../../src/audit/audit-verification.service';
import { AuditRepository } from '../../src/audit/audit.repository';
import type { AuditRecord } from '../../src/audit/audit.schemas';
import type { TenantId } from '../../src/auth/tenant';
import { inScope } from '../../src/database/request-scope';
import { startTestApi, type TestApi } from '../support/api';
import { requestsUrlOf } from '../support/database';
import { TEST_GRAPHS } from '../support/gantry';
import { registerNamespace } from '../support/temporal';
import { waitFor } from '../support/wait-for';

const ADMIN_KEY = 'the-admin-key-0123456789';

describe('the audit log', () => {
  let api: TestApi;
  let sql: Pool;
  let tenant: Tenant;
  let key: CreatedApiKey;

  beforeAll(async () => {
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_ADMIN_KEY: ADMIN_KEY,
      GANTRY_CONFIG: TEST_GRAPHS,
      TEMPORAL_NAMESPACE: await registerNamespace(),
    });
    sql = new Pool({ connectionString: api.database.url, max: 2 });
    tenant = await admin<Tenant>('POST', '/admin/tenants', { name: 'acme' });
    key = await admin<CreatedApiKey>('POST', '/admin/keys', { tenant_id: tenant.tenant_id, name: 'ci' });
  });

  afterAll(async () => {
    await sql?.end();
    await api?.close();
  });

  const send = async <T>(as: string, method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(api.url + path, {
      method,
      headers: { 'x-api-key': as, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
  const admin = <T>(method: string, path: string, body?: unknown): Promise<T> => send<T>(ADMIN_KEY, method, path, body);
  const mine = <T>(method: string, path: string, body?: unknown): Promise<T> => send<T>(key.key, method, path, body);
  const log = (query: Record<string, string>): Promise<AuditRecord[]> =>
    admin<AuditRecord[]>('GET', `/admin/audit?${new URLSearchParams(query).toString()}`);
  const summaries = (records: AuditRecord[]): string[] =>
    records.map(({ action, resource }) => `${action} ${resource}`).reverse();

  it('records who created, changed and deleted a thread, when, and from where', async () => {
    const before = Date.now() - 1_000;
    const { thread_id } = await mine<{ thread_id: string }>('POST', '/threads', { metadata: { secret: 'in it' } });
    await mine('PATCH', `/threads/${thread_id}`, { metadata: { topic: 'secret too' } });
    await mine('GET', `/threads/${thread_id}`);
    await mine('DELETE', `/threads/${thread_id}`);
    const records = await log({ resource_id: thread_id });
    expect(summaries(records)).toEqual(['create thread', 'update thread', 'delete thread']);
    for (const record of records) {
      expect(record).toMatchObject({
        tenant_id: tenant.tenant_id,
        actor: { kind: 'key', id: key.key_id, address: expect.stringMatching(/^[0-9a-f]{16}$/) },
      });
      expect(Date.parse(record.at)).toBeGreaterThan(before);
    }
    expect(records[1].changed).toEqual(['metadata']);
    expect(JSON.stringify(records)).not.toContain('secret');
  });

  it('records assistants and runs, and a cancellation by its name', async () => {
    const { assistant_id } = await mine<{ assistant_id: string }>('POST', '/assistants', {
      graph_id: 'ten',
      name: 'x',
    });
    await mine('PATCH', `/assistants/${assistant_id}`, { name: 'y' });
    const { thread_id } = await mine<{ thread_id: string }>('POST', '/threads', {});
    const { run_id } = await mine<{ run_id: string }>('POST', `/threads/${thread_id}/runs`, {
      assistant_id,
      input: { token: 'in the payload' },
    });
    await mine('POST', `/threads/${thread_id}/runs/${run_id}/cancel`);
    await mine('DELETE', `/threads/${thread_id}/runs/${run_id}`);
    expect(summaries(await log({ resource_id: assistant_id }))).toEqual(['create assistant', 'update assistant']);
    expect(summaries(await log({ resource_id: run_id }))).toEqual(['create run', 'cancel run', 'delete run']);
    // The record of the run reports that it took the thread.
    expect(summaries(await log({ resource_id: thread_id }))).toEqual(['create thread']);
    const { rows } = await sql.query<{ row: string }>('SELECT audit_log::text AS row FROM audit_log');
    expect(rows.map(({ row }) => row).join()).not.toContain('in the payload');
  });

  it('records crons: created, changed, paused, triggered, backfilled and deleted, and not what follows automatically', async () => {
    const { cron_id } = await mine<{ cron_id: string }>('POST', '/runs/crons', {
      assistant_id: 'ten',
      schedule: '0 0 1 * *',
      input: { token: 'in the cron' },
    });
    const cron = `/runs/crons/${cron_id}`;
    await mine('PATCH', cron, { metadata: { topic: 'secret too' } });
    await mine('POST', `${cron}/pause`, { reason: 'holidays' });
    await mine('GET', cron);
    await mine('POST', `${cron}/trigger`);
    await mine('POST', `${cron}/backfill`, { start: '2026-01-01', end: '2026-06-30' });
    await mine('DELETE', cron);
    const records = await log({ resource_id: cron_id });
    expect(summaries(records)).toEqual([
      'create cron',
      'update cron',
      'update cron',
      'trigger cron',
      'backfill cron',
      'delete cron',
    ]);
    expect(records.map(({ actor }) => actor.id)).toEqual(records.map(() => key.key_id));
    const { rows } = await sql.query<{ row: string }>('SELECT audit_log::text AS row FROM audit_log');
    expect(rows.map(({ row }) => row).join()).not.toMatch(/in the cron|secret too|holidays/);
  });

  it('records one deletion of a trace, and the deletion of a project for the traces that go with it', async () => {
    const trace = (id: string) => ({
      post: [0, 1, 2].map((index) => ({
        id: index === 0 ? id : uuidv7(),
        trace_id: id,
        ...(index > 0 && { parent_run_id: id }),
        name: 'in the trace',
        run_type: 'chain',
        start_time: '2026-11-20T10:00:00Z',
        session_name: 'audited',
      })),
    });
    const [alone, withProject] = [uuidv7(), uuidv7()];
    await mine('POST', '/api/v1/runs/batch', trace(alone));
    await mine('POST', '/api/v1/runs/batch', trace(withProject));
    const [{ id }] = await mine<[{ id: string }]>('GET', '/sessions?name=audited');
    await mine('POST', '/runs/delete', { session_id: id, trace_ids: [alone, uuidv7()] });
    await mine('DELETE', `/sessions/${id}`);
    const records = await log({ resource: 'trace' });
    expect(records).toMatchObject([
      { action: 'delete', resource_id: alone, tenant_id: tenant.tenant_id, actor: { kind: 'key', id: key.key_id } },
    ]);
    expect(summaries(await log({ resource_id: id }))).toEqual(['create project', 'delete project']);
    const { rows } = await sql.query('SELECT FROM trace_runs WHERE trace_id = ANY ($1)', [[alone, withProject]]);
    expect(rows).toHaveLength(0);
  });

  it('records the feedback that goes with a project', async () => {
    const run = { id: uuidv7(), name: 'r', run_type: 'chain', start_time: '2026-11-20T10:00:00Z' };
    await mine('POST', '/api/v1/runs/batch', { post: [{ ...run, session_name: 'reviewed' }] });
    const said = { run_id: run.id, key: 'liked', score: 1 };
    const { id: feedbackId } = await mine<{ id: string }>('POST', '/api/v1/feedback', said);
    const [{ id }] = await mine<[{ id: string }]>('GET', '/sessions?name=reviewed');
    await mine('DELETE', `/sessions/${id}`);
    const records = await log({ resource_id: feedbackId });
    expect(summaries(records)).toEqual(['create feedback', 'delete feedback']);
    expect(records[0].actor).toMatchObject({ kind: 'key', id: key.key_id });
  });

  it('records the deletion of a project that fails after its runs are gone, and the next one', async () => {
    const run = { id: uuidv7(), name: 'r', run_type: 'chain', start_time: '2026-11-20T10:00:00Z' };
    await mine('POST', '/api/v1/runs/batch', { post: [{ ...run, session_name: 'halfway' }] });
    const [{ id }] = await mine<[{ id: string }]>('GET', '/sessions?name=halfway');
    const upload = await sql.connect();
    try {
      await upload.query('BEGIN');
      await upload.query('SELECT FROM trace_projects WHERE project_id = $1 FOR KEY SHARE', [id]);
      const deletion = mine('DELETE', `/sessions/${id}`).then(
        () => 'deleted',
        () => 'failed',
      );
      await waitFor('the last transaction to wait for the upload, and to fail', async () => {
        const { rowCount } = await sql.query(
          `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'
             AND query LIKE 'DELETE FROM trace_projects%'`,
        );
        return rowCount === 1;
      });
      expect(await deletion).toBe('failed');
    } finally {
      await upload.query('ROLLBACK');
      upload.release();
    }
    const { rowCount } = await sql.query('SELECT FROM trace_runs WHERE project_id = $1', [id]);
    expect(rowCount).toBe(0);
    const records = await log({ resource_id: id });
    expect(summaries(records)).toEqual(['create project', 'delete project']);
    expect(records[0]).toMatchObject({ changed: null, actor: { kind: 'key', id: key.key_id } });
    await mine('DELETE', `/sessions/${id}`);
    expect(summaries(await log({ resource_id: id }))).toEqual(['create project', 'delete project', 'delete project']);
  });

  it('records items of the store by namespace and key, and no reads', async () => {
    const item = { namespace: ['people', 'a:b'], key: 'likes' };
    await mine('PUT', '/store/items', { ...item, value: { text: 'tea' }, ttl: 5 });
    await mine('PUT', '/store/items', { ...item, value: { text: 'coffee' }, ttl: 0.01 });
    await mine('GET', '/store/items?namespace=people.a:b&key=likes&refresh_ttl=true');
    await mine('POST', '/store/items/search', { namespace_prefix: ['people'], refresh_ttl: true });
    await mine('DELETE', '/store/items', item);
    await mine('DELETE', '/store/items', item);
    const records = await log({ resource: 'store_item' });
    expect(summaries(records)).toEqual(['create store_item', 'update store_item', 'delete store_item']);
    for (const record of records) {
      expect(record).toMatchObject({ tenant_id: tenant.tenant_id, resource_id: null, item, actor: { id: key.key_id } });
    }
  });

  it('records repeated feedback, whichever field changed', async () => {
    const said = { run_id: uuidv7(), key: 'liked', value: 'yes', feedback_source: { type: 'app' } };
    const { id } = await mine<{ id: string }>('POST', '/api/v1/feedback', said);
    await mine('POST', '/api/v1/feedback', { ...said, id, extra: { more: 1 } });
    await mine('PATCH', `/api/v1/feedback/${id}`, { comment: 'secret' });
    const records = await log({ resource_id: id });
    expect(summaries(records)).toEqual(['create feedback', 'update feedback', 'update feedback']);
    expect(records[0].changed).toContain('comment');
  });

  it('has no record of feedback that takes the place of a run which arrives after it', async () => {
    const uploader = await admin<CreatedApiKey>('POST', '/admin/keys', { tenant_id: tenant.tenant_id, name: 'agent' });
    const run = { id: uuidv7(), name: 'r', run_type: 'chain', start_time: '2026-11-20T10:00:00Z' };
    const { id } = await mine<{ id: string }>('POST', '/api/v1/feedback', { run_id: run.id, key: 'liked', score: 1 });
    await send(uploader.key, 'POST', '/api/v1/runs/batch', { post: [{ ...run, session_name: 'placed' }] });
    const placed = await mine<{ session_id: string | null }>('GET', `/api/v1/feedback/${id}`);
    expect(placed.session_id).toEqual(expect.any(String));
    expect(summaries(await log({ resource_id: id }))).toEqual(['create feedback']);
  });

  it('records what the operator did, without the key itself', async () => {
    const other = await admin<CreatedApiKey>('POST', '/admin/keys', {
      tenant_id: tenant.tenant_id,
      name: 'short-lived',
    });
    await admin<ApiKey>('DELETE', `/admin/keys/${other.key_id}`);
    await admin<ApiKey>('DELETE', `/admin/keys/${other.key_id}`);
    await admin<Tenant>('PATCH', `/admin/tenants/${tenant.tenant_id}`, { entitlements: { crons: false } });
    const records = await log({ resource_id: other.key_id });
    expect(summaries(records)).toEqual(['create api_key', 'revoke api_key']);
    expect(records[0].actor).toMatchObject({ kind: 'operator', id: null });
    const [switched] = await log({ resource: 'tenant', action: 'update' });
    expect(switched).toMatchObject({ resource_id: tenant.tenant_id, changed: ['disabled_entitlements'] });
    expect(JSON.stringify(records)).not.toContain(other.key);
  });

  it('has no record of what was rolled back, and none of work that no caller requested', async () => {
    const id = uuidv7();
    await mine('POST', '/threads', { thread_id: id });
    await expect(mine('POST', '/threads', { thread_id: id })).rejects.toThrow(/409/);
    await expect(mine('POST', `/threads/${id}/runs`, { assistant_id: 'nothing' })).rejects.toThrow(/404/);
    expect(summaries(await log({ resource_id: id }))).toEqual(['create thread']);
    // The defaults of a tenant are made with its first request.
    const assistants = await mine<{ assistant_id: string; metadata: { created_by?: string } }[]>(
      'POST',
      '/assistants/search',
      {},
    );
    const system = assistants.find(({ metadata }) => metadata.created_by === 'system')!;
    expect(await log({ resource_id: system.assistant_id })).toEqual([]);
    // A change without an actor, as by a sweep or a worker.
    await sql.query(`UPDATE threads SET metadata = '{"by": "nobody"}' WHERE thread_id = $1`, [id]);
    expect(summaries(await log({ resource_id: id }))).toEqual(['create thread']);
  });

  it('is filtered by tenant, actor, action, resource and time, page by page', async () => {
    const all = await log({ tenant_id: tenant.tenant_id });
    expect(all.length).toBeGreaterThan(8);
    expect(await log({ tenant_id: uuidv7() })).toEqual([]);
    expect(await log({ actor_id: key.key_id })).toEqual(all.filter(({ actor }) => actor.id === key.key_id));
    expect(await log({ action: 'cancel' })).toEqual(all.filter(({ action }) => action === 'cancel'));
    const pages = [await log({ limit: '3' })];
    pages.push(await log({ limit: '3', before: pages[0].at(-1)!.audit_id }));
    expect(pages.flat()).toEqual((await log({})).slice(0, 6));
    expect(await log({ since: '2099-01-01T00:00:00Z' })).toEqual([]);
    expect(await log({ until: '2020-01-01T00:00:00Z' })).toEqual([]);
  });

  it('can be neither read nor written by a tenant', async () => {
    await expect(mine('GET', '/admin/audit')).rejects.toThrow(/403/);
    const theirs = new Pool({ connectionString: await requestsUrlOf(api.database.url), max: 1 });
    try {
      await expect(theirs.query('SELECT * FROM audit_log')).rejects.toThrow(/permission denied/);
    } finally {
      await theirs.end();
    }
  });

  it('records receivers of push notifications, times to live of threads, and pruned threads', async () => {
    const { thread_id } = await mine<{ thread_id: string }>('POST', '/threads', {});
    await mine('PATCH', `/threads/${thread_id}`, { ttl: { ttl: 60 } });
    await mine('POST', '/threads/prune', { thread_ids: [thread_id], strategy: 'keep_latest' });
    const records = await log({ resource_id: thread_id });
    expect(summaries(records)).toEqual(['create thread', 'update thread', 'prune thread']);
    expect(records[1].changed).toEqual(['ttl_minutes', 'ttl_strategy']);

    const taskId = uuidv7();
    await sql.query(
      `INSERT INTO a2a_tasks (task_id, tenant_id, assistant_id, thread_id, context_id, run_id, output_modes)
       VALUES ($1, $2, $1, $3, '', $1, '{}')`,
      [taskId, tenant.tenant_id, thread_id],
    );
    const pushes = api.app.get(A2aPushService, { strict: false });
    const config = {
      tenant: '',
      id: 'one',
      taskId,
      url: 'http://192.0.2.1/secret',
      token: 'secret',
      authentication: undefined,
    };
    const actor = JSON.stringify({ kind: 'key', id: key.key_id });
    await inScope({ tenantId: tenant.tenant_id, actor }, async () => {
      await pushes.putConfig(tenant.tenant_id as TenantId, taskId, config, '1.0');
      await pushes.putConfig(tenant.tenant_id as TenantId, taskId, config, '1.0');
      await pushes.deleteConfig(tenant.tenant_id as TenantId, taskId, 'one');
    });
    const pushed = await log({ resource_id: taskId });
    expect(summaries(pushed)).toEqual(['create push_config', 'update push_config', 'delete push_config']);
    expect(JSON.stringify(pushed)).not.toContain('secret');
  });

  it('records refused logins, a limited number per address and minute, and no credentials', async () => {
    const wrong = 'gtry_this-key-is-unknown-0123456789';
    for (let attempt = 0; attempt < 15; attempt += 1) {
      await expect(send(wrong, 'POST', '/threads/search', {})).rejects.toThrow(/401/);
    }
    await expect(send(wrong, 'GET', '/admin/tenants')).rejects.toThrow(/401/);
    await waitFor('ten records', async () => (await log({ resource: 'login' })).length >= 10);
    const records = await log({ resource: 'login' });
    expect(records).toHaveLength(10);
    expect(records[0]).toMatchObject({
      tenant_id: null,
      actor: { kind: 'unknown', id: null, address: expect.stringMatching(/^[0-9a-f]{16}$/) },
      action: 'refuse',
      reason: 'invalid_api_key',
    });
    expect(JSON.stringify(records)).not.toContain('this-key-is-unknown');
    // A request without credentials isn't an attempt, and isn't recorded.
    expect((await fetch(`${api.url}/threads/search`, { method: 'POST' })).status).toBe(401);
    expect(await log({ resource: 'login' })).toHaveLength(10);
  });

  describe('as a chain', () => {
    let chain: AuditVerificationService;
    let sweep: AuditChainSweep;

    beforeAll(async () => {
      chain = api.app.get(AuditVerificationService, { strict: false });
      sweep = new AuditChainSweep(api.app.get(AuditChainRepository, { strict: false }), api.config);
      await sweep.sweep();
    });

    /** Changes the database as its administrator could, looks at what the verification finds, and takes the change back. */
    async function tamper(...statements: string[]): Promise<string[]> {
      const client = await sql.connect();
      try {
        await client.query('RESET ROLE');
        const tables = ['audit_log', 'audit_chain'];
        for (const table of tables) await client.query(`CREATE TABLE saved_${table} AS TABLE ${table}`);
        for (const table of tables) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER audit_append_only`);
        for (const statement of statements) await client.query(statement);
        const { problems } = await chain.verify(head);
        for (const table of tables) {
          await client.query(`DELETE FROM ${table}`);
          await client.query(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM saved_${table}`);
          await client.query(`DROP TABLE saved_${table}`);
          await client.query(`ALTER TABLE ${table} ENABLE TRIGGER audit_append_only`);
        }
        return problems;
      } finally {
        client.release();
      }
    }
    let head: string;

    it('has a link for each record, and is unmodified', async () => {
      const { rows } = await sql.query<{ count: string }>('SELECT count(*) FROM audit_log');
      const report = await chain.verify();
      expect(report).toEqual({
        verified: true,
        records: Number(rows[0].count),
        head: expect.stringMatching(/^\d+:[0-9a-f]{64}$/),
        problems: [],
      });
      head = report.head!;
    });

    it('refuses every change, whichever role makes it', async () => {
      const client = new Client({ connectionString: api.database.url });
      await client.connect();
      try {
        for (const [table, column] of [
          ['audit_log', 'at'],
          ['audit_chain', 'sealed_at'],
        ]) {
          for (const statement of [
            `UPDATE ${table} SET ${column} = now()`,
            `DELETE FROM ${table}`,
            `TRUNCATE ${table}`,
          ]) {
            await expect(client.query(statement)).rejects.toThrow('append-only');
          }
        }
      } finally {
        await client.end();
      }
    });

    it('shows a record that was changed, removed or inserted, a missing link, and a truncated end', async () => {
      const some = '(SELECT audit_id FROM audit_chain WHERE position = 3)';
      expect(await tamper(`UPDATE audit_log SET actor_id = 'somebody else' WHERE audit_id = ${some}`)).toEqual([
        expect.stringMatching(/^The record \d+ \(position 3\) is not as it was written$/),
      ]);
      expect(
        await tamper(`UPDATE audit_log SET at = at - interval '1 microsecond' WHERE audit_id = ${some}`),
      ).toHaveLength(1);
      expect(await tamper(`DELETE FROM audit_log WHERE audit_id = ${some}`)).toEqual([
        expect.stringMatching(/\(position 3\) is missing$/),
      ]);
      expect(
        await tamper(`DELETE FROM audit_log WHERE audit_id = ${some}`, 'DELETE FROM audit_chain WHERE position = 3'),
      ).toEqual(['The links from position 3 to 3 are missing']);
      expect(
        await tamper(
          `INSERT INTO audit_log (actor_kind, action, resource, at) VALUES ('key', 'delete', 'thread', now() - interval '1 hour')`,
        ),
      ).toEqual([expect.stringContaining('1 records have no link')]);
      expect(
        await tamper(
          'DELETE FROM audit_log WHERE audit_id IN (SELECT audit_id FROM audit_chain WHERE position <= 2)',
          'DELETE FROM audit_chain WHERE position < 2',
        ),
      ).toEqual(['Records before position 2 are missing']);
      expect(
        await tamper(
          'DELETE FROM audit_log WHERE audit_id = (SELECT audit_id FROM audit_chain ORDER BY position DESC LIMIT 1)',
          'DELETE FROM audit_chain WHERE position = (SELECT max(position) FROM audit_chain)',
        ),
      ).toEqual([expect.stringContaining('does not contain the head')]);
      expect((await chain.verify(head)).problems).toEqual([]);
    });

    it('stays intact with concurrent writers and sealers', async () => {
      const sealers = [sweep, new AuditChainSweep(api.app.get(AuditChainRepository, { strict: false }), api.config)];
      const threads = Array.from({ length: 40 }, () => mine('POST', '/threads', {}));
      // Two that seal at once: the second one of a position fails, and tries again in its next round.
      const rounds = Array.from({ length: 6 }, (_, index) => sealers[index % 2].sweep().catch(() => undefined));
      await Promise.all([...threads, ...rounds]);
      await sweep.sweep();
      const { rows } = await sql.query<{ count: string }>('SELECT count(*) FROM audit_log');
      expect(await chain.verify(head)).toMatchObject({ problems: [], records: Number(rows[0].count) });
    });
  });

  it('is kept for the configured time, and the remainder is still a chain', async () => {
    const chain = api.app.get(AuditVerificationService, { strict: false });
    const { records } = await chain.verify();
    const kept = 5;
    const audit = api.app.get(AuditRepository, { strict: false });
    const { rows } = await sql.query<{ at: Date }>(
      `SELECT max(sealed_at) + interval '1 second' AS at FROM audit_chain`,
    );
    expect(await audit.deleteBefore(new Date('2020-01-01'), 1_000)).toBe(0);
    expect(await audit.deleteBefore(rows[0].at, records - kept)).toBe(records - kept);
    expect(await log({ limit: '1000' })).toHaveLength(kept);
    // As the sweep calls it, these records are older than the retention.
    const later = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 366 * 86_400_000);
    try {
      expect(await chain.verify()).toMatchObject({ problems: [], records: kept });
      await new AuditRetentionSweep(audit, api.config).sweep();
      expect(await log({ limit: '1000' })).toEqual([]);
      expect((await chain.verify()).problems).toEqual([]);
    } finally {
      later.mockRestore();
    }
  });
});
