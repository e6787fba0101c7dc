import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { amount } from '../support/amount';
import { Gantry, startGantry } from '../support/gantry';
import { temporaryConfig, type TemporaryConfig } from '../support/langgraph-json';
import { testPython } from '../support/python';
import { possessionFor, type Possessions, TenantCaller } from '../support/two-tenants';

const ADMIN_KEY = 'the-admin-key-0123456789';
const HOOKS = join(__dirname, '..', 'python', 'fuzz_hooks.py');
const RUN_MS = 12 * 60_000;
/** Generated bodies for each operation, beside those that walk along the borders of its schema. */
const EXAMPLES = amount(1, 4);

/**
 * Streams of a thread, which continue until the client disconnects: a client that reads an answer to its end waits for ever.
 */
const ENDLESS = ['/threads/{thread_id}/stream', '/threads/{thread_id}/stream/events'];

/**
 * Operations with the same fields; their requests are more than a third of all. `npm test` sends those of a third of each group, others
 * with each seed.
 */
const ALIKE = [
  [
    'POST /runs',
    'POST /runs/batch',
    'POST /runs/stream',
    'POST /runs/wait',
    'POST /threads/{thread_id}/runs',
    'POST /threads/{thread_id}/runs/stream',
    'POST /threads/{thread_id}/runs/wait',
    'POST /runs/crons',
    'POST /threads/{thread_id}/runs/crons',
    'PATCH /runs/crons/{cron_id}',
  ],
  ['POST /a2a/{assistant_id}', 'POST /a2a/{assistant_id}/message:send', 'POST /a2a/{assistant_id}/message:stream'],
  ['POST /api/v1/bulk-exports/destinations', 'PATCH /api/v1/bulk-exports/destinations/{destination_id}'],
];

/** The operations of a group that are left out. */
function leftOut(group: string[]): string[] {
  const first = jest.getSeed() % group.length;
  const turned = [...group.slice(first), ...group.slice(0, first)];
  return turned.slice(amount(Math.ceil(group.length / 3), group.length));
}

interface Document {
  paths: Record<string, Record<string, unknown>>;
}

interface Refused {
  stdout?: string;
  stderr?: string;
}

/**
 * Schemathesis reads the description of the API and sends what fits it and what doesn't, the same with every run (with
 * the run's seed in the full amount). Whatever comes, the answer is no 5xx, and what is answered is what is described.
 */
describe('requests generated from the description of the API', () => {
  let gantry: Gantry;
  let config: TemporaryConfig;
  let folder: string;
  let caller: TenantCaller;
  let possessions: Possessions;
  let paths: string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gantry-fuzzing-'));
    // Invented host names are not resolved.
    config = temporaryConfig({ webhooks: { url: { allowed_domains: ['127.0.0.1'], allowed_ports: [9] } } });
    gantry = await startGantry({
      graphs: config.path,
      env: {
        GANTRY_AUTH: 'on',
        GANTRY_ADMIN_KEY: ADMIN_KEY,
        GANTRY_LOG_LEVEL: 'error',
        GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      },
    });
    caller = await TenantCaller.create(gantry.url, ADMIN_KEY);
    possessions = await caller.acquire(gantry.sql);
    const finished = await caller.json<{ run_id: string }>('POST', '/runs', {
      body: { assistant_id: 'three', on_completion: 'keep' },
    });
    await caller.json('GET', `/runs/${finished.run_id}/join`);
    possessions = { ...possessions, stateless_run: finished.run_id };
    const document = (await (await fetch(`${gantry.url}/openapi.json`)).json()) as Document;
    paths = Object.keys(document.paths);
    for (const name of ALIKE.flat()) {
      const [method, path] = name.split(' ');
      expect(document.paths[path]).toHaveProperty(method.toLowerCase());
    }
  });

  afterAll(async () => {
    await gantry?.stop();
    config?.remove();
    if (folder) await rm(folder, { recursive: true });
  });

  /** Ids of existing resources, by the parameters of a path. */
  function parameters(): Record<string, Record<string, string>> {
    const values = (path: string): Record<string, string> =>
      Object.fromEntries(
        [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, param]) => {
          const value = possessions[possessionFor(path, param)];
          return value === undefined ? [] : [[param, value]];
        }),
      );
    return Object.fromEntries(paths.map((path) => [path, values(path)]));
  }

  async function fuzz(headers: Record<string, string>, options: string[]): Promise<string> {
    const context = join(folder, 'context.json');
    const { destination_id, project } = possessions;
    const fields = { assistant_id: 'three', bulk_export_destination_id: destination_id, session_id: project };
    await writeFile(context, JSON.stringify({ parameters: parameters(), fields }));
    const report = join(folder, 'report.json');
    const args = [
      ...['run', `${gantry.url}/openapi.json`, '--no-color', '--warnings', 'off'],
      ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      ...['--phases', 'coverage,fuzzing', '--max-examples', String(EXAMPLES)],
      ...amount(['--seed', '1', '--generation-deterministic'], ['--seed', String(jest.getSeed())]),
      '--no-shrink',
      ...ENDLESS.flatMap((path) => ['--exclude-path', path]),
      ...ALIKE.flatMap(leftOut).flatMap((name) => ['--exclude-name', name]),
      ...['--suppress-health-check', 'all', '--request-timeout', '60', '--report-json-path', report],
      ...options,
    ];
    const python = testPython();
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      SCHEMATHESIS_HOOKS: HOOKS,
      FUZZ_CONTEXT: context,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const run = promisify(execFile)(join(dirname(python), 'schemathesis'), args, {
      cwd: folder,
      env,
      timeout: RUN_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
    return run.then(
      () => '',
      (error: Refused) => `${error.stdout}\n${error.stderr}\n${gantry.logs()}`,
    );
  }

  it(
    'are answered without a 5xx',
    async () => {
      const tenant = { 'X-API-Key': caller.key, 'X-Tenant-Id': caller.tenantId };
      const faults = await fuzz(tenant, ['--checks', 'not_a_server_error', '--exclude-tag', 'Admin']);
      expect(faults).toBe('');
    },
    RUN_MS,
  );
});
