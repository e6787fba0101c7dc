import { availableParallelism } from 'node:os';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from './config-error';
import { loadConfig } from './config';

const needed = {
  DATABASE_URL: 'postgres://localhost/gantry',
  TEMPORAL_ADDRESS: 'localhost:7233',
  GANTRY_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
};

function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('loadConfig', () => {
  it('requires three settings, and lists all that are missing', () => {
    expect(problemsOf(needed)).toEqual([]);
    expect(problemsOf({}).sort()).toEqual([
      'DATABASE_URL is missing',
      'GANTRY_SECRET_KEY is missing',
      'TEMPORAL_ADDRESS is missing',
    ]);
  });

  it('refuses the login of requests for graph processes', () => {
    const url = 'postgres://requests:x@localhost/gantry';
    expect(problemsOf({ ...needed, GANTRY_REQUESTS_DATABASE_URL: url })).toEqual([]);
    expect(
      problemsOf({ ...needed, GANTRY_REQUESTS_DATABASE_URL: url, GANTRY_GRAPHS_DATABASE_URL: `${url}?ssl=true` }),
    ).toEqual([expect.stringMatching(/^GANTRY_GRAPHS_DATABASE_URL: .* a login role of their own/)]);
  });

  it('refuses a pool in which the sweeps of a worker would wait for their own connection', () => {
    expect(problemsOf({ ...needed, GANTRY_DATABASE_POOL: '2' })).toEqual([]);
    expect(problemsOf({ ...needed, GANTRY_DATABASE_POOL: '1' })).toEqual([
      expect.stringMatching(/^GANTRY_DATABASE_POOL: must be at least 2: /),
    ]);
  });

  it('takes every address of the loopback network for one that no other machine reaches', () => {
    for (const host of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) {
      expect([host, problemsOf({ ...needed, GANTRY_HOST: host })]).toEqual([host, []]);
    }
    for (const host of ['0.0.0.0', '10.0.0.1', '127.example.com']) {
      expect(problemsOf({ ...needed, GANTRY_HOST: host })).toEqual([expect.stringContaining('from other machines')]);
    }
  });

  it('treats an empty variable as unset, as compose files pass it', () => {
    expect(problemsOf({ ...needed, TEMPORAL_ADDRESS: '' })).toEqual(['TEMPORAL_ADDRESS is missing']);
    expect(loadConfig({ ...needed, GANTRY_PORT: '', GANTRY_HOST: '' }).http).toMatchObject({
      port: 2024,
      host: '127.0.0.1',
    });
  });

  describe('with an `env` in langgraph.json', () => {
    let folder: string;
    const write = (file: string, content: string): void => writeFileSync(join(folder, file), content);
    const load = (more: Record<string, string> = {}) =>
      loadConfig({ ...needed, GANTRY_CONFIG: join(folder, 'langgraph.json'), ...more });

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'gantry-config-'));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    it('reads settings from its map or its file, which the environment of the process overrides', () => {
      write('langgraph.json', JSON.stringify({ env: { LANGGRAPH_THREAD_TTL: '5', GANTRY_RUNS_PER_WORKER: '7' } }));
      expect(load().graphs.threadTtl).toMatchObject({ default: { minutes: 5 } });
      expect(load({ GANTRY_RUNS_PER_WORKER: '9' }).worker.runs).toBe(9);
      expect(load({ GANTRY_RUNS_PER_WORKER: '' }).worker.runs).toBe(7);
      write('langgraph.json', JSON.stringify({ env: './.env' }));
      write('.env', 'LANGGRAPH_CONFIG={"agent":{"configurable":{"model":"small"}}}\n');
      expect(load().graphs.defaultConfigs).toMatchObject({ agent: { config: { configurable: { model: 'small' } } } });
    });

    it('takes the place of the data, and secrets, from the environment of the process only', () => {
      const env = {
        DATABASE_URL: 'postgres://elsewhere/app',
        TEMPORAL_NAMESPACE: 'app',
        GANTRY_ADMIN_KEY: 'k'.repeat(20),
      };
      write('langgraph.json', JSON.stringify({ env }));
      const config = load();
      expect([config.database.url, config.temporal.namespace, config.auth.adminKey]).toEqual([
        'postgres://localhost/gantry',
        'default',
        undefined,
      ]);
      expect(() => loadConfig({ ...needed, DATABASE_URL: '', GANTRY_CONFIG: join(folder, 'langgraph.json') })).toThrow(
        'DATABASE_URL is missing',
      );
    });

    it('leaves the collector of an application to its graphs', () => {
      write('langgraph.json', JSON.stringify({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' } }));
      expect(load().telemetry.exportsTraces).toBe(false);
      expect(load({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }).telemetry.exportsTraces).toBe(true);
    });

    it('names the variable that is wrong', () => {
      write('langgraph.json', JSON.stringify({ env: { GANTRY_RUNS_PER_WORKER: 'many' } }));
      expect(() => load()).toThrow('GANTRY_RUNS_PER_WORKER: ');
    });
  });

  it('reads the time to live of threads in minutes or in the form of langgraph.json', () => {
    const ttlOf = (LANGGRAPH_THREAD_TTL: string) => loadConfig({ ...needed, LANGGRAPH_THREAD_TTL }).graphs.threadTtl;
    expect(ttlOf('90')).toMatchObject({ default: { strategy: 'delete', minutes: 90 } });
    expect(ttlOf('{"strategy":"keep_latest","default_ttl":5}')).toMatchObject({
      default: { strategy: 'keep_latest', minutes: 5 },
    });
    expect(problemsOf({ ...needed, LANGGRAPH_THREAD_TTL: 'a day' })).toEqual([
      expect.stringContaining('LANGGRAPH_THREAD_TTL: must be minutes'),
    ]);
  });

  it('reads the configuration of default assistants as JSON keyed by graph', () => {
    const given = '{"agent": {"recursion_limit": 5, "context": {"model": "small"}}}';
    expect(loadConfig({ ...needed, LANGGRAPH_CONFIG: given }).graphs.defaultConfigs).toEqual({
      agent: { config: { recursion_limit: 5 }, context: { model: 'small' } },
    });
    expect(problemsOf({ ...needed, LANGGRAPH_CONFIG: 'agent' })).toEqual([
      expect.stringContaining('LANGGRAPH_CONFIG: must be JSON by the name of a graph'),
    ]);
  });

  it('reports problems in JSON at the paths that the user wrote', () => {
    const placesIn = (LANGGRAPH_CONFIG: object): string[] =>
      problemsOf({ ...needed, LANGGRAPH_CONFIG: JSON.stringify(LANGGRAPH_CONFIG) }).map(
        (problem) => /^LANGGRAPH_CONFIG: (\S+): /.exec(problem)?.[1] ?? problem,
      );
    expect(placesIn({ agent: { recursion_limit: 0, configurable: 'small', context: 'large' } }).sort()).toEqual([
      'agent.configurable',
      'agent.context',
      'agent.recursion_limit',
    ]);
    expect(placesIn({ agent: { tags: [5] }, other: 'small' })).toEqual(['agent.tags', 'other']);
    expect(problemsOf({ ...needed, LANGGRAPH_THREAD_TTL: '{"default_ttl": "a day"}' })).toEqual([
      expect.stringMatching(/^LANGGRAPH_THREAD_TTL: default_ttl: /),
    ]);
  });

  it('treats null in the configuration of default assistants as absent', () => {
    const given = '{"agent": {"recursion_limit": null, "context": null}}';
    expect(loadConfig({ ...needed, LANGGRAPH_CONFIG: given }).graphs.defaultConfigs).toEqual({
      agent: { config: {}, context: {} },
    });
  });

  it('has the documented defaults', () => {
    const config = loadConfig(needed);
    expect(config).toMatchObject({
      http: { port: 2024, host: '127.0.0.1', apiUrl: 'http://127.0.0.1:2024' },
      auth: { isEnabled: false, defaultTenantId: '00000000-0000-0000-0000-000000000000' },
      runs: { timeoutMs: 86_400_000 },
      temporal: { address: 'localhost:7233', namespace: 'default' },
    });
    expect(config.exports).toMatchObject({ concurrency: 3, timeoutMs: 86_400_000 });
    expect(config.http.bodyLimitBytes).toBe(10 * 1024 * 1024);
  });

  it.each([
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['DATABASE_URL', 'postgres://u:p#w@localhost:5432/x'],
    ['DATABASE_URL', 'postgres://u:12#w@localhost:5432/x'],
    ['DATABASE_URL', 'postgres://u:p/w@localhost:5432/x'],
    ['DATABASE_URL', 'postgres://u:12/w@localhost:5432/x'],
    ['GANTRY_REQUESTS_DATABASE_URL', 'postgres://u:p?w@localhost:5432/x'],
    ['GANTRY_GRAPHS_DATABASE_URL', 'postgres://u:p@localhost:99999/x'],
    ['GANTRY_SECRET_KEY', 'c2hvcnQ='],
    ['GANTRY_PORT', '65536'],
    ['GANTRY_PORT', 'http'],
    ['GANTRY_AUTH', 'yes please'],
    ['GANTRY_API_KEY', 'short'],
    ['GANTRY_TENANT_ID', 'acme'],
    ['GANTRY_LOG_LEVEL', 'loud'],
    ['GANTRY_RUN_TIMEOUT_SECONDS', '0'],
    ['GANTRY_HEARTBEAT_TIMEOUT_SECONDS', '1'],
    ['GANTRY_BODY_LIMIT_BYTES', '1.5'],
    ['GANTRY_DRAIN_DELAY_SECONDS', '2147484'],
    ['GANTRY_DRAIN_TIMEOUT_SECONDS', '2147484'],
    ['GANTRY_REQUEST_TIMEOUT_SECONDS', '2147484'],
    ['GANTRY_HAND_BACK_AFTER_SECONDS', '2592000'],
    ['GANTRY_SHUTDOWN_GRACE_SECONDS', '2147484'],
    ['GANTRY_SWEEP_INTERVAL_SECONDS', '2147484'],
    ['GANTRY_HEARTBEAT_TIMEOUT_SECONDS', '2147484'],
    ['GANTRY_RUN_TIMEOUT_SECONDS', '99999999999'],
    ['GANTRY_EXPORT_TIMEOUT_SECONDS', '99999999999'],
    ['GANTRY_EVENT_RETENTION_HOURS', '876000'],
    ['GANTRY_CRON_HISTORY_DAYS', '36501'],
    ['GANTRY_TRACE_RETENTION_DAYS', '999999999'],
    ['GANTRY_AUDIT_RETENTION_DAYS', '36501'],
    ['GANTRY_WEBHOOK_RETENTION_HOURS', '876001'],
    ['GANTRY_TEMPORAL_METRICS', '127.0.0.1:99999'],
    ['GANTRY_TEMPORAL_METRICS', 'localhost:9464'],
    ['GANTRY_TEMPORAL_METRICS', '9464'],
    ['GANTRY_ALLOWED_ORIGINS', 'https://a.example,https://b.example/'],
    ['GANTRY_ALLOWED_ORIGINS', 'chat.example'],
    ['GANTRY_ALLOWED_ORIGINS', '*'],
    ['GANTRY_EXPORT_ALLOW_CIDRS', '10.0.0.0/8,10.0.0.1'],
    ['GANTRY_WEBHOOK_SECRETS', 'whsec_fine,not-fine'],
  ])('refuses %s=%s by its name', (name, value) => {
    const problems = problemsOf({ ...needed, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name}: `));
  });

  it.each([
    ['DATABASE_URL', 'postgres://u:p%23w@localhost:5432/x?sslmode=require'],
    ['DATABASE_URL', 'postgresql:///x?host=/var/run/postgresql'],
    ['GANTRY_TEMPORAL_METRICS', '0.0.0.0:9464'],
    ['GANTRY_TEMPORAL_METRICS', '[::1]:9464'],
    ['GANTRY_AUDIT_RETENTION_DAYS', '36500'],
    ['GANTRY_EVENT_RETENTION_HOURS', '438000'],
  ])('accepts %s=%s', (name, value) => {
    expect(problemsOf({ ...needed, [name]: value })).toEqual([]);
  });

  it('names the upper limit of a duration', () => {
    expect(problemsOf({ ...needed, GANTRY_TRACE_RETENTION_DAYS: '99999' })).toEqual([
      'GANTRY_TRACE_RETENTION_DAYS: must be at most 36500 (100 years)',
    ]);
    expect(problemsOf({ ...needed, GANTRY_HAND_BACK_AFTER_SECONDS: '9999999' })).toEqual([
      'GANTRY_HAND_BACK_AFTER_SECONDS: must be at most 1000000 (11 days)',
    ]);
  });

  it('lists every wrong value at once, and repeats none that may be secret', () => {
    const problems = problemsOf({
      ...needed,
      DATABASE_URL: 'mysql://u:hunter2@localhost/x',
      GANTRY_SECRET_KEY: 'my-secret-master-key',
      GANTRY_API_KEY: 'my-key',
      GANTRY_PORT: 'x',
    });
    expect(problems).toHaveLength(4);
    expect(problems.join()).not.toMatch(/hunter2|my-secret-master-key|my-key/);
  });

  it('has one graph thread per core, within bounds, unless a number is set', () => {
    const threads = (env: Record<string, string>) => loadConfig({ ...needed, ...env }).graphs.threads;
    expect(threads({})).toEqual({ min: 1, max: Math.min(4, Math.max(2, availableParallelism())) });
    expect(threads({ GANTRY_GRAPH_THREADS_MIN: '20' })).toEqual({ min: 20, max: 20 });
    expect(threads({ GANTRY_GRAPH_THREADS_MAX: '1' })).toEqual({ min: 1, max: 1 });
  });

  it('checks settings that depend on each other', () => {
    expect(problemsOf({ ...needed, GANTRY_GRAPH_THREADS_MIN: '5', GANTRY_GRAPH_THREADS_MAX: '2' })).toEqual([
      expect.stringContaining('GANTRY_GRAPH_THREADS_MIN'),
    ]);
    expect(problemsOf({ ...needed, TEMPORAL_TLS_CERT_PATH: '/cert.pem' })).toEqual([
      expect.stringContaining('TEMPORAL_TLS_KEY_PATH'),
    ]);
    for (const name of ['GANTRY_S3_ACCESS_KEY_ID', 'GANTRY_S3_SECRET_ACCESS_KEY']) {
      expect(problemsOf({ ...needed, [name]: 'half' })).toEqual([
        'GANTRY_S3_ACCESS_KEY_ID and GANTRY_S3_SECRET_ACCESS_KEY go together',
      ]);
    }
  });

  it('reads the kinds of work that a worker does, and defaults to all of them', () => {
    const some = loadConfig({ ...needed, GANTRY_WORKER_QUEUES: 'exports, webhooks' });
    expect(some.worker.queues).toEqual(['exports', 'webhooks']);
    expect(loadConfig(needed).worker.queues).toEqual(['runs', 'exports', 'webhooks', 'crons']);
    const [problem, ...others] = problemsOf({ ...needed, GANTRY_WORKER_QUEUES: 'runs,exprots' });
    expect(others).toEqual([]);
    expect(problem).toContain('GANTRY_WORKER_QUEUES');
    expect(problem).toContain('exports');
  });

  it.each(['on', 'true', '1'])('turns authentication on by %s', (value) => {
    expect(loadConfig({ ...needed, GANTRY_AUTH: value }).auth.isEnabled).toBe(true);
  });

  it('uses TLS with an API key or when requested, and otherwise not', () => {
    expect(loadConfig(needed).temporal.tls).toBeUndefined();
    expect(loadConfig({ ...needed, TEMPORAL_TLS: 'true' }).temporal.tls).toEqual({});
    expect(loadConfig({ ...needed, TEMPORAL_API_KEY: 'k' }).temporal).toMatchObject({ apiKey: 'k', tls: {} });
  });

  it('replaces the api’s own address with one that can be reached when it binds every interface', () => {
    const url = loadConfig({ ...needed, GANTRY_AUTH: 'on', GANTRY_API_URL: 'https://gantry.example.com' }).http.apiUrl;
    expect(url).toBe('https://gantry.example.com');
  });
});
