import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gantry, runToExit, startGantry } from '../support/gantry';
import { graphProcessesOf } from '../support/gantry-process';
import { temporaryConfig } from '../support/langgraph-json';
import { memoryOf } from '../support/process-memory';
import { waitFor } from '../support/wait-for';

const GRAPHS = join(__dirname, '..', 'support', 'environment', 'langgraph.json');

/** Values of the secret settings: each contains the name of its setting, which shows where a leak comes from. */
const CANARIES = {
  GANTRY_ADMIN_KEY: 'canary-admin-key-0123456789',
  GANTRY_API_KEY: 'canary-api-key-0123456789',
  GANTRY_INTERNAL_KEY: 'canary-internal-key-0123456789',
  GANTRY_METRICS_TOKEN: 'canary-metrics-token-0123456789',
  GANTRY_WEBHOOK_SECRETS: `whsec_${Buffer.from('canary of webhook secrets 0123456').toString('base64')}`,
  GANTRY_S3_ACCESS_KEY_ID: 'canary-s3-id',
  GANTRY_S3_SECRET_ACCESS_KEY: 'canary-s3-secret',
  AWS_SECRET_ACCESS_KEY: 'canary-aws',
  GOOGLE_APPLICATION_CREDENTIALS: '/canary-google.json',
  SOME_PASSWORD: 'canary-other',
};

const ALLOWED = {
  OPENAI_API_KEY: 'of the provider',
  CRM_TOKEN: 'of the operator',
  MY_APP_MODE: 'by prefix',
  TZ: 'UTC',
};

/** The environment of user code, and what the kernel keeps of it. */
interface Seen {
  env: Record<string, string>;
  kernel: string[];
}

/** Files in the folder of this version of Node. */
function filesIn(cache: string): number {
  if (!existsSync(cache)) return 0;
  const [version] = readdirSync(cache).filter((name) => name.startsWith('v'));
  return version === undefined ? 0 : readdirSync(join(cache, version)).length;
}

describe('the environment of user code', () => {
  let gantry: Gantry;
  const cache = mkdtempSync(join(tmpdir(), 'gantry-compiled-'));

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: GRAPHS,
      env: {
        GANTRY_AUTH: 'on',
        // Graphs of tests get it, with the login of the database's owner; these write nothing there.
        GANTRY_TEST_LEDGER_URL: 'postgres://127.0.0.1/none',
        NODE_COMPILE_CACHE: cache,
        ...CANARIES,
        ...ALLOWED,
        GANTRY_GRAPH_ENV: 'CRM_TOKEN,MY_APP_*,GANTRY_A*,GANTRY_S*',
      },
    });
  });

  afterAll(async () => {
    await gantry?.stop();
    rmSync(cache, { recursive: true });
  });

  const expectAllowList = ({ env, kernel }: Seen): void => {
    expect(env).toMatchObject({ ...ALLOWED, GRAPHS_OWN: 'of langgraph.json', PATH: expect.any(String) });
    const text = JSON.stringify([env, kernel]);
    for (const canary of Object.values(CANARIES)) expect(text).not.toContain(canary);
    expect(text).not.toContain(gantry.database.url);
    expect(env).not.toHaveProperty('GANTRY_SECRET_KEY');
    expect(env).not.toHaveProperty('DATABASE_URL');
    const names = kernel.map((entry) => entry.split('=')[0]);
    expect(names).toContain('OPENAI_API_KEY');
    for (const name of ['DATABASE_URL', 'GANTRY_SECRET_KEY', ...Object.keys(CANARIES)])
      expect(names).not.toContain(name);
  };

  it('is an allow-list for graphs and auth', async () => {
    const seen = (await gantry.client().runs.wait(null, 'environment', { input: {} })) as unknown as {
      graph: Seen;
      user: { seen: Seen };
    };
    expectAllowList(seen.graph);
    expectAllowList(seen.user.seen);
  });

  it('names a folder for compiled code that no process of Gantry reads, and contains code although no process exited', async () => {
    const { graph } = (await gantry.client().runs.wait(null, 'environment', { input: {} })) as unknown as {
      graph: { env: Record<string, string> };
    };
    expect(graph.env.NODE_COMPILE_CACHE).toBe(join(cache, 'user-code'));
    await waitFor('the compiled code of both', () => {
      const [own, users] = [cache, join(cache, 'user-code')].map((folder) => filesIn(folder));
      return own > 0 && users > 100;
    });
  });

  it('is an allow-list for http.app', async () => {
    expectAllowList((await (await fetch(`${gantry.url}/seen`)).json()) as Seen);
  });

  it('contains no secret setting, nor does the memory of any such process', async () => {
    // An api ends a graph process that is idle.
    await gantry.client().assistants.getSchemas('environment');
    const { username, password } = new URL(gantry.database.url);
    const secrets = ['canary-', CANARIES.GANTRY_WEBHOOK_SECRETS, `${username}:${password}@`];
    // Those of the api, of auth and http.app too, and those of the worker.
    const processes = graphProcessesOf(process.pid).flatMap(graphProcessesOf);
    expect(processes.length).toBeGreaterThan(3);
    const found = processes.map((pid) => {
      const inside = new Set<string>();
      for (const block of memoryOf(pid)) {
        for (const secret of secrets) if (block.includes(secret)) inside.add(secret);
      }
      return [...inside];
    });
    expect(found).toEqual(processes.map(() => []));
  });

  it("prevents a start that would pass one of Gantry's secrets to graphs", async () => {
    const base = { DATABASE_URL: gantry.database.url, TEMPORAL_ADDRESS: '127.0.0.1:1', GANTRY_CONFIG: GRAPHS };
    // The key of the database: with another one no process starts.
    const secret = Buffer.alloc(32, 7).toString('base64');
    const env = { ...base, GANTRY_SECRET_KEY: secret };

    const named = await runToExit('api', { ...env, GANTRY_GRAPH_ENV: 'CRM_TOKEN,GANTRY_SECRET_KEY' });
    expect(named).toMatchObject({ code: 1, output: expect.stringContaining('GANTRY_GRAPH_ENV: GANTRY_SECRET_KEY') });

    const config = temporaryConfig({ env: { GANTRY_ADMIN_KEY: 'x', SIGNING_KEY: secret, FINE: 'yes' } });
    const filled = await runToExit('api', { ...env, GANTRY_CONFIG: config.path });
    config.remove();
    expect(filled.code).toBe(1);
    expect(filled.output).toContain('env.GANTRY_ADMIN_KEY');
    expect(filled.output).toContain('env.SIGNING_KEY');
    expect(filled.output).not.toContain('env.FINE');
    expect(filled.output).not.toContain(secret);
  });
});
