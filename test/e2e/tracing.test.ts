import { randomUUID } from 'node:crypto';
import { Client as LangSmithClient, type Run } from 'langsmith';
import { EXAMPLE_GRAPHS, type Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

const API_KEY = `gtry_${'k'.repeat(43)}`;
const TENANT_ID = '00000000-0000-0000-0000-000000000000';

describe("traces of the server's own runs, with auth on", () => {
  let gantry: Gantry;
  let langsmith: LangSmithClient;

  beforeAll(async () => {
    gantry = await startGantry({
      graphProcesses: 1,
      graphs: EXAMPLE_GRAPHS,
      env: {
        GANTRY_TRACING: 'on',
        GANTRY_AUTH: 'on',
        GANTRY_API_KEY: API_KEY,
        GANTRY_INTERNAL_KEY: `gtry_${'i'.repeat(43)}`,
      },
    });
    langsmith = new LangSmithClient({ apiUrl: `${gantry.url}/api/v1`, apiKey: API_KEY, workspaceId: TENANT_ID });
  });

  afterAll(() => gantry?.stop());

  /** Posts one run, as clients do without batches. */
  const send = (run: { id: string; session_name: string }): Promise<Response> =>
    fetch(`${gantry.url}/api/v1/runs`, {
      method: 'POST',
      headers: { 'x-api-key': API_KEY, 'x-tenant-id': TENANT_ID, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'sent', run_type: 'chain', start_time: new Date().toISOString(), ...run }),
    });

  /** Ids of the runs of a project, sorted. */
  async function storedIn(project: string): Promise<string[]> {
    const { rows } = await gantry.sql.query<{ run_id: string }>(
      `SELECT run_id FROM trace_runs JOIN trace_projects p USING (tenant_id, project_id) WHERE p.name = $1 ORDER BY 1`,
      [project],
    );
    return rows.map(({ run_id }) => run_id);
  }

  it('arrive in the project of the graph, as a tree with inputs and outputs', async () => {
    const client = gantry.client({ apiKey: API_KEY });
    const question = { messages: [{ role: 'user', content: 'What is 2 + 3?' }] };
    await client.runs.wait(null, 'agent', { input: question });

    const project = await waitFor('the project of the graph', async () => {
      const response = await fetch(`${gantry.url}/api/v1/sessions?name=agent`, {
        headers: { 'x-api-key': API_KEY, 'x-tenant-id': TENANT_ID },
      });
      const projects = (await response.json()) as { id: string; name: string; tenant_id: string }[];
      return projects.find(({ name }) => name === 'agent');
    });
    expect(project.tenant_id).toBe(TENANT_ID);

    const runs = await waitFor('the whole trace', async () => {
      const found: Run[] = [];
      for await (const run of langsmith.listRuns({ projectId: project.id })) found.push(run);
      // Uploads overtake each other: a run's end may be there while its beginning is in flight, and so may those of others.
      const root = found.find(({ parent_run_id: parent }) => !parent);
      const isWhole =
        root?.end_time && root.inputs && ['llm', 'tool'].every((type) => found.some((run) => run.run_type === type));
      return isWhole ? found : undefined;
    });
    const root = runs.find(({ parent_run_id: parent }) => !parent)!;
    expect(JSON.stringify(root.inputs)).toContain('What is 2 + 3?');
    expect(JSON.stringify(root.outputs)).toContain('2 + 3 = 5');
    expect(runs.every(({ trace_id: trace }) => trace === root.id)).toBe(true);
    expect(runs.map(({ run_type: type }) => type)).toEqual(expect.arrayContaining(['chain', 'llm', 'tool']));
  });

  it('delay no run while their store hangs, and are complete when it recovers', async () => {
    const client = gantry.client({ apiKey: API_KEY });
    const lock = await gantry.sql.connect();
    const project = 'uploaded while it hung';
    const runIds = Array.from({ length: 40 }, () => randomUUID());
    const upload = (id: string): Promise<Response> => send({ id, session_name: project });
    let uploads: Promise<Response>[];
    try {
      await lock.query('BEGIN; LOCK TABLE trace_runs IN ACCESS EXCLUSIVE MODE');
      uploads = runIds.map(upload);
      await waitFor('uploads to hang', async () => {
        const { rows } = await lock.query(
          `SELECT FROM pg_locks WHERE relation = 'trace_runs'::regclass AND NOT granted`,
        );
        return rows.length > 0;
      });
      const question = { messages: [{ role: 'user', content: 'What is 5 + 6?' }] };
      expect(JSON.stringify(await client.runs.wait(null, 'agent', { input: question }))).toContain('5 + 6 = 11');
    } finally {
      await lock.query('ROLLBACK');
      lock.release();
    }
    const statuses = (await Promise.all(uploads)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 202 && status !== 503)).toEqual([]);
    const accepted = runIds.filter((_, index) => statuses[index] === 202);
    expect(await storedIn(project)).toEqual(accepted.sort());
    expect(accepted.length).toBeGreaterThan(0);
    await waitFor('the trace of the run', async () => {
      for await (const run of langsmith.listRuns({ projectName: 'agent', isRoot: true })) {
        if (JSON.stringify(run.outputs ?? {}).includes('5 + 6 = 11')) return true;
      }
      return false;
    });
  });

  it('arrive in another project too when the run asks for it, linked to its example', async () => {
    const exampleId = '3f1f2c52-0000-4000-8000-000000000000';
    const response = await fetch(`${gantry.url}/runs/wait`, {
      method: 'POST',
      headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({
        assistant_id: 'agent',
        input: { messages: [{ role: 'user', content: 'What is 4 + 4?' }] },
        langsmith_tracer: { project_name: 'evaluation', example_id: exampleId },
      }),
    });
    expect(response.status).toBe(200);
    const roots = async (projectName: string) => {
      const found = [];
      for await (const run of langsmith.listRuns({ projectName, isRoot: true })) found.push(run);
      return found.filter((run) => JSON.stringify(run.inputs).includes('4 + 4') && run.end_time);
    };
    const [evaluated] = await waitFor('the trace in the other project', async () => {
      const found = await roots('evaluation').catch(() => []);
      return found.length > 0 && found;
    });
    expect(evaluated.reference_example_id).toBe(exampleId);
    const [own] = await waitFor("the trace in the graph's project", async () => {
      const found = await roots('agent');
      return found.length > 0 && found;
    });
    expect(own.id).not.toBe(evaluated.id);
    expect(own.reference_example_id ?? null).toBeNull();
  });

  it('are in the project that their run names', async () => {
    const client = gantry.client({ apiKey: API_KEY });
    const { thread_id } = await client.threads.create();
    const projectOf = async (tracer?: object): Promise<unknown> => {
      const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
      const body = JSON.stringify({ assistant_id: 'pipeline', input: { step_ms: 0 }, langsmith_tracer: tracer });
      await fetch(`${gantry.url}/threads/${thread_id}/runs/wait`, { method: 'POST', headers, body });
      const [run] = await client.runs.list(thread_id, { limit: 1, select: ['langsmith_session_name'] as never });
      return run;
    };
    expect(await projectOf()).toEqual({ langsmith_session_name: 'pipeline' });
    expect(await projectOf({ project_name: 'elsewhere' })).toEqual({ langsmith_session_name: 'elsewhere' });
    for (const projectName of ['pipeline', 'elsewhere']) {
      const headers = { 'x-api-key': API_KEY, 'x-tenant-id': TENANT_ID };
      await waitFor(`a trace in ${projectName}`, async () => {
        const found = await fetch(`${gantry.url}/api/v1/sessions?name=${projectName}`, { headers });
        return ((await found.json()) as unknown[]).length === 1;
      });
    }
  });

  it('are durable once they are accepted: a killed api loses none of those', async () => {
    const project = 'uploaded until it died';
    const accepted: string[] = [];
    let isDead = false;
    const lane = async (): Promise<void> => {
      while (!isDead) {
        const id = randomUUID();
        const response = await send({ id, session_name: project }).catch(() => undefined);
        if (response?.status === 202) accepted.push(id);
      }
    };
    const lanes = Array.from({ length: 8 }, lane);
    await waitFor('some to be accepted', () => accepted.length >= 50);
    await gantry.killApi('SIGKILL');
    isDead = true;
    await Promise.all(lanes);
    const stored = new Set(await storedIn(project));
    expect(accepted.filter((id) => !stored.has(id))).toEqual([]);
    await gantry.startApi();
    const again = accepted[0];
    expect((await send({ id: again, session_name: project })).status).toBe(202);
    expect((await storedIn(project)).length).toBe(stored.size);
  });
});
