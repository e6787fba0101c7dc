import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiKey, CreatedApiKey, Tenant } from '../../src/auth/admin.schemas';
import { type ApiProcess, startApiProcess } from '../support/api-process';
import { gantryCli } from '../support/cli';
import { runToExit, TEST_GRAPHS } from '../support/gantry';
import { SupervisedGantry } from '../support/supervised-gantry';
import { createNamespace, temporalAddress, type TestNamespace } from '../support/temporal';
import { testVariables } from '../support/variables';
import { waitFor } from '../support/wait-for';

async function json<T>(args: string[], env: Record<string, string>): Promise<T> {
  const { code, out, err } = await gantryCli([...args, '--json'], env);
  expect({ code, err }).toEqual({ code: 0, err });
  return JSON.parse(out) as T;
}

describe('npm run gantry, with DATABASE_URL', () => {
  let api: ApiProcess;
  let env: Record<string, string>;

  beforeAll(async () => {
    api = await startApiProcess({ GANTRY_AUTH: 'on', GANTRY_CONFIG: TEST_GRAPHS });
    env = { DATABASE_URL: api.database.url, GANTRY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
  });

  afterAll(() => api?.close());

  const search = async (key: string): Promise<number> => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    return (await fetch(`${api.url}/threads/search`, { method: 'POST', headers, body: '{}' })).status;
  };

  it('creates tenants and keys that a running server accepts at once, and revokes them', async () => {
    const tenant = await json<Tenant>(['tenants', 'create', 'acme'], env);
    const created = await json<CreatedApiKey>(
      ['keys', 'create', '--name', 'ci', '--tenant', 'acme', '--expires', '1d'],
      env,
    );
    expect(created.tenant_id).toBe(tenant.tenant_id);
    expect(await search(created.key)).toBe(200);

    const listed = await json<ApiKey[]>(['keys', 'list', '--tenant', tenant.tenant_id], env);
    expect(listed.map(({ key_id }) => key_id)).toEqual([created.key_id]);
    expect(JSON.stringify(listed)).not.toContain(created.key);

    await json<ApiKey>(['keys', 'revoke', created.key_id], env);
    await waitFor('the refusal', async () => (await search(created.key)) === 401, 4_500);
  });

  it('prints tables for people too', async () => {
    const created = await gantryCli(['keys', 'create', '-n', 'laptop'], env);
    expect(created.code).toBe(0);
    expect(created.out).toMatch(/^gtry_[A-Za-z0-9_-]{49}\n\nSend it as X-API-Key .* It is not shown again\.\n/);
    const { out } = await gantryCli(['keys', 'list'], env);
    expect(out).toMatch(/KEY ID +NAME +KEY/);
    expect(out).toMatch(/laptop +gtry_....….... /);
  });

  it('changes what the plan of a tenant includes', async () => {
    await json<Tenant>(['tenants', 'create', 'small'], env);
    const off = await json<Tenant>(['tenants', 'set', 'small', '--disable', 'crons', 'bulk_export'], env);
    expect(off.entitlements).toEqual({ crons: false, bulk_export: false });
    const on = await json<Tenant>(['tenants', 'set', 'small', '--enable', 'crons'], env);
    expect(on.entitlements).toEqual({ crons: true, bulk_export: false });
  });

  it.each([
    ['an unknown tenant', ['keys', 'create', '-n', 'x', '-t', 'nobody'], /^Tenant not found\n$/],
    ['an unknown key', ['keys', 'revoke', '01a1fe1d-37cc-71f9-b2d6-4349d75764b5'], /^API key not found\n$/],
    ['an expiry in words', ['keys', 'create', '-n', 'x', '-e', 'tomorrow'], /"tomorrow" is not an expiry/],
    ['an invalid run id', ['runs', 'explain', 'r1'], /"r1" is not a run id: give a UUID/],
    [
      'an unknown run',
      ['runs', 'explain', '01a1fe1d-37cc-71f9-b2d6-4349d75764b5'],
      /^There is no run 01a1fe1d-37cc-71f9-b2d6-4349d75764b5 in this database\. .* DATABASE_URL and GANTRY_HOME\.\n$/,
    ],
    ['an unknown command', ['keys', 'steal'], /unknown command 'steal'/],
  ])('explains in one sentence what is wrong with %s', async (_what, args, message) => {
    const { code, out, err } = await gantryCli(args, env);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(message);
  });

  it('refuses another master key than the one of the database, as api and worker do, until it is made the key', async () => {
    const other = { ...env, GANTRY_SECRET_KEY: Buffer.alloc(32, 8).toString('base64') };
    const refusal = 'GANTRY_SECRET_KEY: is not the key with which this database is used';
    const refused = await gantryCli(['keys', 'create', '-n', 'x'], other);
    expect([refused.code, refused.out]).toEqual([1, '']);
    expect(refused.err).toContain(refusal);
    for (const which of ['api', 'worker'] as const) {
      const { code, output } = await runToExit(which, testVariables(api.database.url, other));
      expect([which, code]).toEqual([which, 1]);
      expect(output).toContain(refusal);
    }
    expect(await json<object>(['secrets', 'accept-key'], other)).toEqual({ accepted: true });
    await json<ApiKey[]>(['keys', 'list'], other);
    expect((await gantryCli(['keys', 'list'], env)).err).toContain(refusal);
    await json<object>(['secrets', 'accept-key'], env);
  });
});

describe('npm run gantry, with a home', () => {
  let namespace: TestNamespace;
  let started: SupervisedGantry;

  beforeAll(async () => {
    namespace = await createNamespace();
    const s3 = JSON.parse(process.env.GANTRY_TEST_S3 ?? '{}') as Record<string, string>;
    started = await SupervisedGantry.start({
      GANTRY_POSTGRES_PORT: '0',
      TEMPORAL_ADDRESS: temporalAddress(),
      TEMPORAL_NAMESPACE: namespace.name,
      GANTRY_S3_ENDPOINT: s3.endpoint ?? 'http://127.0.0.1:1',
    });
  }, 240_000);

  afterAll(async () => {
    await started?.discard();
    await namespace?.drop();
  });

  it('explains the state of runs and what they wait for', async () => {
    const env = { GANTRY_HOME: started.home, TEMPORAL_NAMESPACE: namespace.name };
    const { api } = started.endpoints;
    const post = async <T>(path: string, body: object): Promise<T> => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return (await response.json()) as T;
    };
    const { thread_id } = await post<{ thread_id: string }>('/threads', {});
    const run = { assistant_id: 'pipeline', input: { step_ms: 3_600_000 }, multitask_strategy: 'enqueue' };
    const first = await post<{ run_id: string }>(`/threads/${thread_id}/runs`, run);
    const second = await post<{ run_id: string }>(`/threads/${thread_id}/runs`, run);
    const explain = (runId: string) =>
      json<{ status: string; workers: number; explanation: { status: string; waits_for: string | null } }>(
        ['runs', 'explain', runId],
        env,
      );
    const running = await waitFor('the heartbeat with the node', async () => {
      const report = await explain(first.run_id);
      return report.explanation.waits_for === 'node "step_1"' && report;
    });
    expect(running).toMatchObject({ status: 'running', attempt: 1, workers: 1, last_events: expect.any(Array) });
    expect(await explain(second.run_id)).toMatchObject({
      status: 'pending',
      explanation: { waits_for: `the end of run ${first.run_id}, which is running on the same thread` },
    });
    const { out } = await gantryCli(['runs', 'explain', first.run_id], env);
    expect(out).toMatch(/^The run has been running for .*, in attempt 1\.\n {2}Waits for +node "step_1"\n/);
    for (const { run_id } of [second, first]) {
      const { status } = await fetch(`${api}/threads/${thread_id}/runs/${run_id}/cancel`, { method: 'POST' });
      expect(status).toBe(202);
    }
    const cancelled = await waitFor('the end of the run', async () => {
      const report = await explain(first.run_id);
      return report.status === 'interrupted' && report;
    });
    expect(cancelled.explanation).toMatchObject({
      status: expect.stringMatching(/^The run ended as interrupted after .*\. A client cancelled it\.$/),
      waits_for: null,
    });
    const refund = await post<{ thread_id: string }>('/threads', {});
    const asking = await post<{ run_id: string }>(`/threads/${refund.thread_id}/runs`, {
      assistant_id: 'approval',
      input: {},
    });
    await waitFor('the question', async () => {
      const { explanation } = await explain(asking.run_id);
      return explanation.waits_for === 'an answer: the graph stopped at an interrupt';
    });
    await post(`/threads/${refund.thread_id}/runs/wait`, { assistant_id: 'approval', command: { resume: true } });
    expect((await explain(asking.run_id)).explanation).toMatchObject({ waits_for: null });
  });

  it('administers the Gantry that runs there, running or stopped', async () => {
    const env = { GANTRY_HOME: started.home };
    const tenant = await json<Tenant>(['tenants', 'create', 'acme'], env);
    await started.stop();
    const listed = await json<Tenant[]>(['tenants', 'list'], env);
    expect(listed.map(({ name }) => name)).toEqual(['default', 'acme']);
    const created = await json<CreatedApiKey>(['keys', 'create', '-n', 'late', '-t', tenant.tenant_id], env);
    expect(created.tenant_id).toBe(tenant.tenant_id);
    for (const left of ['gantry.lock', join('postgres', 'data', 'postmaster.pid')]) {
      expect([left, existsSync(join(started.home, left))]).toEqual([left, false]);
    }
  }, 240_000);

  it('reports that there is none', async () => {
    const { code, err } = await gantryCli(['keys', 'list'], { GANTRY_HOME: join(started.home, 'nothing') });
    expect(code).toBe(1);
    expect(err).toMatch(/There is no Gantry in .*nothing yet: "npm start" makes one/);
  });
});
