import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@langchain/langgraph-sdk';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { answeringGraph, layOutProject } from '../support/project';
import { SupervisedGantry, type Endpoints } from '../support/supervised-gantry';
import { createNamespace, temporalAddress, type TestNamespace } from '../support/temporal';
import { waitFor } from '../support/wait-for';

/** The demo takes about a minute where nothing else runs. */
const SCRIPT_MS = 240_000;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // ESRCH: there is no such process.
    return false;
  }
}

function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
  });
}

interface ScriptEnd {
  code: number;
  printed: string;
}

/** A script as its npm command runs it, with nothing of this process's settings but those given. */
async function runScript(name: string, env: Record<string, string>, ...args: string[]): Promise<ScriptEnd> {
  const path = join(__dirname, '..', '..', 'scripts', `${name}.mjs`);
  const settings = { PATH: process.env.PATH, HOME: process.env.HOME, ...env };
  try {
    const options = { env: settings, timeout: SCRIPT_MS };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [path, ...args], options);
    return { code: 0, printed: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (typeof code !== 'number') throw error;
    return { code, printed: stdout + stderr };
  }
}

/** `npm start` as a user has it, with the services of the test run in place of the embedded ones. */
describe('the supervisor', () => {
  let database: TestDatabase;
  let namespace: TestNamespace;
  let gantry: SupervisedGantry;
  let endpoints: Endpoints;

  beforeAll(async () => {
    [database, namespace] = await Promise.all([createTestDatabase(), createNamespace()]);
    const s3 = process.env.GANTRY_TEST_S3 ? (JSON.parse(process.env.GANTRY_TEST_S3) as Endpoints['s3']) : undefined;
    gantry = await SupervisedGantry.start({
      ...ownServices(),
      ...(s3 && {
        GANTRY_S3_ENDPOINT: s3.endpoint,
        GANTRY_S3_BUCKET: s3.bucket,
        GANTRY_S3_REGION: s3.region,
        GANTRY_S3_ACCESS_KEY_ID: s3.access_key_id,
        GANTRY_S3_SECRET_ACCESS_KEY: s3.secret_access_key,
      }),
    });
    endpoints = gantry.endpoints;
  }, 240_000);

  afterAll(async () => {
    await gantry?.discard();
    await namespace?.drop();
    await database?.drop();
  });

  const ownServices = (): Record<string, string> => ({
    // Short times, since the demo waits for them.
    GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '3',
    GANTRY_WEBHOOK_RETRY_SECONDS: '0.5,0.5,0.5',
    GANTRY_WORKFLOW_AFTER_SECONDS: '2',
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress(),
    TEMPORAL_NAMESPACE: namespace.name,
  });

  it('prints where everything is, to its owner only', () => {
    expect(statSync(gantry.endpointsPath).mode & 0o777).toBe(0o600);
    expect(endpoints).toMatchObject({
      api: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      docs: `${endpoints.api}/docs`,
      console: `${endpoints.api}/console`,
      temporal: temporalAddress(),
      postgres: database.url,
      s3: { endpoint: expect.stringMatching(/^http/), bucket: expect.any(String) },
      api_key: expect.stringMatching(/.{16,}/),
      tenant_id: '00000000-0000-0000-0000-000000000000',
    });
    expect(endpoints.pids).toMatchObject({
      supervisor: gantry.pid,
      api: expect.any(Number),
      worker: expect.any(Number),
    });
    expect(gantry.printed).toContain(endpoints.api);
    expect(gantry.printed).toMatch(new RegExp(`^ +Runtime +Node ${process.versions.node}`, 'm'));
  });

  it('gives the keys that only the api checks to the api only', () => {
    const environmentOf = (pid: number): string => readFileSync(`/proc/${pid}/environ`, 'utf8');
    expect(environmentOf(endpoints.pids.api)).toContain('GANTRY_ADMIN_KEY=');
    expect(environmentOf(endpoints.pids.worker)).not.toMatch(/GANTRY_(ADMIN|API)_KEY=/);
  });

  it('serves health, the description of the API, and a run', async () => {
    expect(await (await fetch(`${endpoints.api}/ok?check_db=1`)).json()).toMatchObject({ ok: true });
    expect(await (await fetch(`${endpoints.api}/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0' });
    const client = new Client({ apiUrl: endpoints.api, apiKey: endpoints.api_key });
    const input = { messages: [{ role: 'user', content: 'weather in Oslo' }] };
    expect(await client.runs.wait(null, 'agent', { input })).toMatchObject({ messages: expect.any(Array) });
  });

  it('runs the example in Python beside those in TypeScript', async () => {
    const client = new Client({ apiUrl: endpoints.api, apiKey: endpoints.api_key });
    const text = 'Runs survive. They resume at checkpoints.\n\nExports are complete! Each row is in one file.';
    expect(await client.runs.wait(null, 'digest', { input: { text } })).toMatchObject({
      digest: 'Runs survive. Exports are complete!',
    });
  });

  it('makes a run that takes longer a workflow that an operator finds by all its attributes', async () => {
    const client = new Client({ apiUrl: endpoints.api, apiKey: endpoints.api_key });
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'pipeline', { input: { step_ms: 1_000 } });
    const [run] = await client.runs.list(thread_id);
    const query = [
      `GantryRunId = '${run.run_id}'`,
      `GantryThreadId = '${thread_id}'`,
      `GantryAssistantId = '${run.assistant_id}'`,
      `GantryGraphId = 'pipeline'`,
      `GantryTenantId = '${endpoints.tenant_id}'`,
    ].join(' AND ');
    // Its start registers the attributes, which no query may name before.
    await waitFor('the workflow', () =>
      namespace.client.workflow
        .getHandle(`run-${run.run_id}`)
        .describe()
        .then(
          () => true,
          () => false,
        ),
    );
    const found = await waitFor('the workflow in the list', async () => {
      for await (const workflow of namespace.client.workflow.list({ query })) return workflow;
      return undefined;
    });
    expect(found).toMatchObject({ workflowId: `run-${run.run_id}`, type: 'runWorkflow' });
  });

  it('restarts a part that dies, and reports it', async () => {
    await gantry.killPart('worker');
    expect(gantry.printed).toMatch(/worker.*SIGKILL/);
    const client = new Client({ apiUrl: endpoints.api, apiKey: endpoints.api_key });
    expect(await client.runs.wait(null, 'pipeline', { input: { step_ms: 0 } })).toHaveProperty('done');
  });

  it('refuses a port or folder that another Gantry uses, and says what to change', async () => {
    const { port } = new URL(endpoints.api);
    const [samePort, sameHome] = await Promise.all([
      runScript('start', { GANTRY_HOME: join(gantry.home, 'other'), GANTRY_PORT: port }),
      runScript('start', { GANTRY_HOME: gantry.home, GANTRY_PORT: '0' }),
    ]);
    expect(samePort.code).toBe(1);
    expect(samePort.printed).toMatch(new RegExp(`Port ${port} on 127.0.0.1 is taken.* set GANTRY_PORT`));
    expect(sameHome.code).toBe(1);
    expect(sameHome.printed).toContain(`Another Gantry (process ${gantry.pid}) uses ${gantry.home}`);
    expect(await answers(endpoints.api)).toBe(true);
  });

  it('lists every mistake in its settings, and the settings that exist', async () => {
    const mistakes = { GANTRY_PORT: 'many', GANTRY_AUTH: 'perhaps', GANTRY_S3_BUCKET: '../elsewhere' };
    const wrong = await runScript('start', { GANTRY_HOME: gantry.home, ...mistakes });
    expect(wrong.code).toBe(2);
    for (const name of Object.keys(mistakes)) expect(wrong.printed).toContain(name);
    const help = await runScript('start', {}, '--help');
    expect(help.code).toBe(0);
    for (const name of ['GANTRY_HOME', 'DATABASE_URL', 'TEMPORAL_ADDRESS', 'GANTRY_S3_ENDPOINT']) {
      expect(help.printed).toContain(name);
    }
  });

  it(
    'has a demo of every promise, and each part of it passes',
    async () => {
      const { printed } = await runScript('demo', { GANTRY_HOME: gantry.home });
      const results = [...printed.matchAll(/^(PASS|FAIL) +(\w+) .*$/gm)];
      expect(results.filter(([, result]) => result !== 'PASS').map(([line]) => line)).toEqual([]);
      expect(results.map(([, , part]) => part)).toEqual(['stream', 'python', 'crash', 'webhook', 'export']);
      expect(printed).toMatch(/^ *PASS {2}3 nodes in parallel/m);
    },
    SCRIPT_MS,
  );

  it('has a doctor that finds nothing wrong, and lists what it checked', async () => {
    const { code, printed } = await runScript('doctor', { GANTRY_HOME: gantry.home });
    const passed = [...printed.matchAll(/^PASS +(.+?) {2}/gm)].map(([, part]) => part);
    expect(passed).toEqual(expect.arrayContaining(['config', 'ports', 'database', 'temporal', 's3', 'api', 'cors']));
    expect(printed).toContain('Nothing is wrong.');
    expect(code).toBe(0);
  });

  it('stops on SIGTERM and leaves nothing but its data', async () => {
    const { pids } = gantry.endpoints;
    expect(await gantry.stop()).toBe(0);
    expect(existsSync(gantry.endpointsPath)).toBe(false);
    for (const [name, pid] of Object.entries(pids)) expect([name, isAlive(pid)]).toEqual([name, false]);
    expect(await answers(endpoints.api)).toBe(false);
    const left = readdirSync(gantry.home).filter((name) => /lock|pid/.test(name));
    expect(left).toEqual([]);
    expect(existsSync(join(gantry.home, 'secrets.json'))).toBe(true);
  });

  it('starts without an S3 gateway, without a broken graph and without Python, and says what is missing', async () => {
    // Its worker would take the runs of this one's.
    await gantry.stop();
    const project = layOutProject({
      'langgraph.json': {
        graphs: { sound: './sound.ts:graph', broken: './broken.ts:graph', snake: './snake.py:graph' },
        webhooks: { headers: { authorization: '${{ env.LG_WEBHOOK_TOKEN }}' } },
      },
      'sound.ts': answeringGraph('', '1'),
      'broken.ts': "import 'no-such-package';\nexport const graph = 1;\n",
      'snake.py': 'graph = 1\n',
    });
    const folder = mkdtempSync(join(tmpdir(), 'gantry-without-gateway-'));
    symlinkSync(process.execPath, join(folder, 'node'));
    // Neither a gateway nor Go nor Python is on this PATH, or in this cache.
    const { secret_key: key } = JSON.parse(readFileSync(join(gantry.home, 'secrets.json'), 'utf8')) as {
      secret_key: string;
    };
    const env = {
      PATH: folder,
      GANTRY_CACHE: folder,
      GANTRY_CONFIG: project.path('langgraph.json'),
      // In a home of its own it would make another key than that of the database.
      GANTRY_SECRET_KEY: key,
    };
    const token = 'a-webhook-token';
    const bare = await SupervisedGantry.start({ ...ownServices(), ...env, LG_WEBHOOK_TOKEN: token });
    try {
      const reports = (): number => bare.printed.split('graphs.broken').length - 1;
      await waitFor('the report of the broken graph', () => reports() > 0);
      expect(bare.printed).toMatch(/s +(api|worker) +A graph can't be served: graphs\.broken: .*no-such-package/);
      expect(reports()).toBe(1);
      const warnings = bare.printed.match(/warning: Headers with secrets go to every host.*/g);
      expect(warnings).toEqual([expect.stringContaining('{"headers":["authorization"]}')]);
      expect(bare.printed).not.toContain(token);
      expect(bare.printed).toMatch(/No S3 gateway could be obtained.*GANTRY_S3_ENDPOINT/);
      expect(bare.printed).toMatch(/S3 +none: exports need a bucket/);
      expect(bare.endpoints.s3).toBeNull();
      expect(bare.printed).toMatch(/python +not served: "snake"\. Graphs in Python need Python 3\.10 or newer in PATH/);
      const client = new Client({ apiUrl: bare.endpoints.api });
      expect(await client.runs.wait(null, 'sound', { input: {} })).toEqual({ answer: 1 });
      await expect(client.runs.wait(null, 'snake', { input: {} })).rejects.toThrow(
        /Graphs in Python are not served: .*ENOENT.*GANTRY_PYTHON/,
      );
      const { code, printed } = await runScript('doctor', { GANTRY_HOME: bare.home });
      expect(printed).toMatch(/^WARN +s3 .*GANTRY_S3_ENDPOINT/m);
      expect(code).toBe(0);
    } finally {
      await bare.discard();
      rmSync(folder, { recursive: true });
      project.remove();
    }
  });
});
