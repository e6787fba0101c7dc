import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { type DefaultConfigs, defaultConfigsSchema } from './default-configs';
import { projectSettings } from './project-settings';
import { checkpointerTtlSchema, type ThreadTtlSettings } from './thread-ttl';

const flag = z
  .enum(['on', 'off', 'true', 'false', '1', '0'])
  .transform((value) => value === 'on' || value === 'true' || value === '1');
const port = z.coerce.number().int().min(0).max(65_535);
const positiveInt = z.coerce.number().int().positive();
const seconds = z.coerce.number().positive();
/** Postgres keeps milliseconds in 31 bits. */
const MAX_TIMEOUT_SECONDS = 2_147_483;
/** The kinds of work that a worker can be set to; each has task queues of its own. */
export const WORKER_QUEUES = ['runs', 'exports', 'webhooks', 'crons'] as const;
export type WorkerQueue = (typeof WORKER_QUEUES)[number];

/** More threads than cores compute no more, and each costs memory; fewer than two, and a busy node holds all runs up. */
const defaultGraphThreads = (): number => Math.min(4, Math.max(2, availableParallelism()));

/** A file of the operator's, as seen from where the process was started: it works in the project's folder later. */
const file = z
  .string()
  .min(1)
  .transform((path) => resolve(path));

/** Values separated by commas. */
const list = z
  .string()
  .default('')
  .transform((value) =>
    value
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  );

/** An origin as browsers send it: nothing follows the host and the port. */
const origin = z
  .string()
  .refine((value) => /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\\\s*]+$/i.test(value) && URL.canParse(value), {
    message: 'must be origins such as https://app.example.com, separated by commas',
  })
  .toLowerCase();

/** An address, a network, or `loopback`. */
function isAddressRange(range: string): boolean {
  const [address, bits, ...rest] = range.split('/');
  const version = isIP(address);
  if (range === 'loopback') return true;
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** A 32-byte key written as base64: AES-256 takes exactly that much. */
const masterKey = z.string().refine((value) => Buffer.from(value, 'base64').length === 32, {
  message: 'must be 32 random bytes in base64 (for example: openssl rand -base64 32)',
});

/** @param message says what would be right */
const jsonText = (message: string) =>
  z.string().transform((value, context): unknown => {
    try {
      return JSON.parse(value);
    } catch {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
  });

/** `checkpointer.ttl` as in langgraph.json, or the minutes alone. */
const threadTtl = jsonText('must be minutes, or JSON such as {"default_ttl": 43200}')
  .transform((given) => (typeof given === 'number' ? { default_ttl: given } : given))
  .pipe(checkpointerTtlSchema);

const defaultConfigs = jsonText(
  'must be JSON by the name of a graph, such as {"agent": {"configurable": {"model": "small"}}}',
).pipe(defaultConfigsSchema);

/** False for array indices: users write the list with commas and don't count positions. */
const isKey = (place: string): boolean => !/^\d+$/.test(place);

const postgresUrl = z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL');

/** Every setting that either process reads, under its environment name. Nothing else reads `process.env`. */
const environmentSchema = z.object({
  DATABASE_URL: postgresUrl,
  GANTRY_REQUESTS_DATABASE_URL: postgresUrl.optional(),
  GANTRY_GRAPHS_DATABASE_URL: postgresUrl.optional(),
  TEMPORAL_ADDRESS: z.string().min(1),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_API_KEY: z.string().min(1).optional(),
  TEMPORAL_TLS: flag.default(false),
  TEMPORAL_TLS_CA_PATH: file.optional(),
  TEMPORAL_TLS_CERT_PATH: file.optional(),
  TEMPORAL_TLS_KEY_PATH: file.optional(),
  GANTRY_HOST: z.string().min(1).default('127.0.0.1'),
  GANTRY_PORT: port.default(2024),
  GANTRY_WORKER_HOST: z.string().min(1).default('127.0.0.1'),
  GANTRY_WORKER_PORT: z.union([z.literal('off').transform(() => undefined), port]).default(2025),
  GANTRY_TEMPORAL_METRICS: z
    .string()
    .regex(/^\S+:\d{1,5}$/, 'must be host:port')
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url().optional(),
  GANTRY_METRICS_TOKEN: z.string().min(16, 'must have 16 characters or more').optional(),
  GANTRY_API_URL: z.url().optional(),
  GANTRY_PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  GANTRY_A2A_ASSISTANT: z.string().min(1).optional(),
  GANTRY_CONFIG: file.prefault('langgraph.json'),
  GANTRY_REVISION: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'must be up to 100 letters, digits, dots, dashes, underscores')
    .optional(),
  LANGGRAPH_THREAD_TTL: threadTtl.optional(),
  LANGGRAPH_CONFIG: defaultConfigs.default({}),
  /** The hosted platform's default; the library's own, 25, ends agents in the middle of their work. */
  LANGGRAPH_DEFAULT_RECURSION_LIMIT: positiveInt.default(10_011),
  GANTRY_WORKER_DEPLOYMENT: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, 'must be up to 100 letters, digits, dashes, underscores')
    .optional(),
  GANTRY_AUTH: flag.default(false),
  GANTRY_API_KEY: z.string().min(16, 'must have 16 characters or more').optional(),
  GANTRY_INTERNAL_KEY: z.string().min(16, 'must have 16 characters or more').optional(),
  GANTRY_ADMIN_KEY: z.string().min(16, 'must have 16 characters or more').optional(),
  GANTRY_RATE_LIMIT_PER_SECOND: seconds.optional(),
  GANTRY_TRACE_RATE_LIMIT_PER_SECOND: seconds.optional(),
  GANTRY_DOCS: z.enum(['auto', 'open', 'protected']).default('auto'),
  GANTRY_AUDIT_ADDRESSES: z.enum(['hashed', 'full', 'off']).default('hashed'),
  GANTRY_AUDIT_RETENTION_DAYS: positiveInt.default(365),
  GANTRY_TENANT_ID: z.guid().default('00000000-0000-0000-0000-000000000000'),
  GANTRY_SECRET_KEY: masterKey,
  GANTRY_SEALING_KEYS: z
    .string()
    .default('')
    .transform((value) =>
      value
        .split(',')
        .map((key) => key.trim())
        .filter((key) => key !== ''),
    )
    .pipe(z.array(masterKey)),
  GANTRY_TRACING: flag.default(true),
  GANTRY_TRACE_SHARING: flag.default(true),
  GANTRY_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  GANTRY_BODY_LIMIT_BYTES: positiveInt.default(10 * 1024 * 1024),
  GANTRY_STREAMS_PER_KEY: positiveInt.default(10_000),
  GANTRY_TRUSTED_PROXIES: list.refine((proxies) => proxies.every(isAddressRange), {
    message: 'must be addresses or networks such as 10.0.0.0/8, or loopback, separated by commas',
  }),
  GANTRY_REQUEST_TIMEOUT_SECONDS: positiveInt.default(300),
  GANTRY_TRACE_LIMIT_BYTES: positiveInt.default(100 * 1024 * 1024),
  GANTRY_TRACE_RETENTION_DAYS: positiveInt.optional(),
  GANTRY_S3_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  GANTRY_S3_BUCKET: z.string().min(1).optional(),
  GANTRY_S3_REGION: z.string().min(1).default('us-east-1'),
  GANTRY_S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  GANTRY_S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  GANTRY_STATEMENT_TIMEOUT_SECONDS: positiveInt.max(MAX_TIMEOUT_SECONDS).default(300),
  GANTRY_SEARCH_TIMEOUT_SECONDS: positiveInt.max(MAX_TIMEOUT_SECONDS).default(30),
  GANTRY_DATABASE_POOL: positiveInt.default(10),
  GANTRY_RUN_TIMEOUT_SECONDS: positiveInt.default(86_400),
  GANTRY_RUN_LOST_ATTEMPTS: positiveInt.default(10),
  GANTRY_HEARTBEAT_TIMEOUT_SECONDS: z.coerce.number().int().min(2).default(10),
  GANTRY_SHUTDOWN_GRACE_SECONDS: positiveInt.default(15),
  GANTRY_HAND_BACK_AFTER_SECONDS: z.coerce.number().min(0).default(0),
  GANTRY_DRAIN_DELAY_SECONDS: z.coerce.number().min(0).default(0),
  GANTRY_DRAIN_TIMEOUT_SECONDS: z.coerce.number().min(0).default(5),
  GANTRY_GRAPH_ENV: list.pipe(
    z.array(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*\*?$/, 'must be names, or prefixes that end in *, such as MY_TOKEN,MY_APP_*'),
    ),
  ),
  GANTRY_GRAPH_MEMORY_MB: z.coerce.number().int().min(64).optional(),
  GANTRY_GRAPH_UID: z.coerce.number().int().min(1).optional(),
  GANTRY_GRAPH_GID: z.coerce.number().int().min(1).optional(),
  GANTRY_CACHE_FOLDER: z.string().min(1).optional(),
  GANTRY_PREPARE_SCHEMAS: flag.default(true),
  GANTRY_GRAPH_THREADS_MIN: positiveInt.default(1),
  GANTRY_GRAPH_THREADS_MAX: positiveInt.optional(),
  GANTRY_WORKER_QUEUES: list
    .pipe(z.array(z.enum(WORKER_QUEUES)))
    .transform((queues) => (queues.length > 0 ? queues : [...WORKER_QUEUES])),
  GANTRY_RUNS_PER_WORKER: positiveInt.default(200),
  GANTRY_PENDING_RUNS_PER_TENANT: positiveInt.default(10_000),
  GANTRY_RUN_BATCH_LIMIT: positiveInt.default(1_000),
  GANTRY_EVENT_RETENTION_HOURS: positiveInt.default(72),
  GANTRY_SWEEP_INTERVAL_SECONDS: positiveInt.default(5),
  GANTRY_CRON_HISTORY_DAYS: positiveInt.default(30),
  GANTRY_EXPORT_CONCURRENCY: positiveInt.default(3),
  GANTRY_EXPORT_PARTITION_CONCURRENCY: positiveInt.default(2),
  GANTRY_EXPORT_PARTITIONS_PER_WORKER: positiveInt.default(2),
  GANTRY_EXPORT_PART_ROWS: positiveInt.default(50_000),
  GANTRY_EXPORT_PART_BYTES: positiveInt.default(32 * 1024 * 1024),
  GANTRY_EXPORT_TIMEOUT_SECONDS: positiveInt.default(86_400),
  GANTRY_EXPORT_LATE_PASS_HOURS: z.coerce.number().positive().max(8_760).default(24),
  GANTRY_EXPORT_ALLOW_CIDRS: list.refine((networks) => networks.every((each) => ipaddr.isValidCIDR(each)), {
    message: 'must be networks such as 10.0.0.0/8, separated by commas',
  }),
  GANTRY_EXPORT_AMBIENT_BUCKETS: list,
  GANTRY_EXPORT_AMBIENT_ROLES: list.refine(
    (roles) => roles.every((role) => /^arn:aws[a-z-]*:iam::\d{12}:role\/[^*]*\*?$/.test(role)),
    {
      message: 'must be ARNs of roles, or beginnings that end in *, such as arn:aws:iam::123456789012:role/exports-*',
    },
  ),
  GANTRY_EXPORT_STS_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  GANTRY_ALLOWED_ORIGINS: list.pipe(z.array(origin)),
  GANTRY_MCP_ALLOWED_HOSTS: list,
  FF_V2_EVENT_STREAMING: flag.default(true),
  GANTRY_WEBHOOK_ALLOW_CIDRS: list,
  GANTRY_WEBHOOK_SECRETS: list.refine((secrets) => secrets.every((secret) => secret.startsWith('whsec_')), {
    message: 'each secret must start with whsec_ (Standard Webhooks), several are separated by commas',
  }),
  GANTRY_WEBHOOK_CONNECT_TIMEOUT_SECONDS: seconds.max(30).default(5),
  GANTRY_WEBHOOK_TIMEOUT_SECONDS: seconds.max(60).default(15),
  GANTRY_WEBHOOK_RETRY_SECONDS: z
    .string()
    .default('1,3,10,60,300,1800,7200,18000,28800,36000')
    .transform((value) => value.split(',').map((delay) => Number(delay.trim())))
    .refine((delays) => delays.length <= 50 && delays.every((delay) => delay > 0 && delay <= 604_800), {
      message: 'must be up to 50 delays in seconds, separated by commas, each above 0 and at most a week',
    }),
  GANTRY_WEBHOOK_CONCURRENCY: positiveInt.default(500),
  GANTRY_WEBHOOK_CONCURRENCY_PER_HOST: positiveInt.default(8),
  GANTRY_WEBHOOK_RESPONSE_BYTES: z.coerce.number().int().min(0).max(65_536).default(1_024),
  GANTRY_WEBHOOK_RETENTION_HOURS: positiveInt.default(720),
  GANTRY_TEST: flag.default(false),
});

export type Environment = z.output<typeof environmentSchema>;

const LOOPBACK_HOSTS = new Set(['127.0.0.1', '::1', 'localhost']);

/** Every fault of the environment at once, so that a start needs one correction and not five. */
export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(`Configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

export interface TemporalSettings {
  address: string;
  namespace: string;
  apiKey?: string;
  tls?: { ca?: Buffer; clientCertPair?: { crt: Buffer; key: Buffer } };
}

export interface WebhookDeliverySettings {
  connectTimeoutMs: number;
  /** A whole attempt, from the name's resolution to the answer's status. */
  timeoutMs: number;
  /** The wait before each attempt after the first. */
  retryDelaysMs: number[];
  /** Attempts at once in a worker, and of those to one host. */
  concurrency: number;
  concurrencyPerHost: number;
  /** How much of an answer is kept in the log; 0 keeps none. */
  responseBytes: number;
  retentionMs: number;
}

export interface ExportSettings {
  /** Exports of one tenant that run at once. */
  concurrency: number;
  /** Days of one export that are written at once. */
  partitionConcurrency: number;
  /** Days that one worker writes at once: each holds a part in memory. */
  partitionsPerWorker: number;
  /** A Parquet file ends after so many rows, or so many bytes of text, whichever is first. */
  partRows: number;
  partBytes: number;
  timeoutMs: number;
  /** After the end of a window's export, for its later pass. */
  latePassSeconds: number;
  /** Internal networks in which the stores of destinations may be. */
  allowCidrs: string[];
  /** The deployment's own store, which destinations may name wherever it is. */
  ownEndpoint: string | undefined;
  /** Buckets that are written to with the process's own credentials where a destination has none. */
  ambientBuckets: string[];
  /** ARNs, or beginnings that end in `*`. */
  ambientRoles: string[];
  stsEndpoint: string | undefined;
}

/** The deployment's own bucket. */
export interface ObjectStoreSettings {
  /** Undefined: AWS. */
  endpoint: string | undefined;
  bucket: string;
  region: string;
  /** Undefined: those that the environment has (profile, instance role). */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** The validated settings of a process. Durations are in milliseconds. */
export class AppConfig {
  constructor(
    private readonly env: Environment,
    /**
     * The environment as the process got it: header templates of webhooks may name any variable under their prefix, and graph
     * code gets those on its list.
     */
    readonly templateEnvironment: Readonly<Record<string, string | undefined>> = {},
  ) {}

  readonly version = '0.1.0';

  get databaseUrl(): string {
    return this.env.DATABASE_URL;
  }
  get requestsDatabaseUrl(): string | undefined {
    return this.env.GANTRY_REQUESTS_DATABASE_URL;
  }
  /** URL with the login of graph processes, where an administrator made one. */
  get graphsDatabaseUrl(): string | undefined {
    return this.env.GANTRY_GRAPHS_DATABASE_URL ?? this.env.GANTRY_REQUESTS_DATABASE_URL;
  }
  /** The longest that one statement of a request may take. */
  get statementTimeouts(): { requestMs: number; searchMs: number } {
    return {
      requestMs: this.env.GANTRY_STATEMENT_TIMEOUT_SECONDS * 1000,
      searchMs: this.env.GANTRY_SEARCH_TIMEOUT_SECONDS * 1000,
    };
  }
  get databasePool(): number {
    return this.env.GANTRY_DATABASE_POOL;
  }
  get temporal(): TemporalSettings {
    const { env } = this;
    const read = (path: string | undefined): Buffer | undefined => (path ? readFileSync(path) : undefined);
    const crt = read(env.TEMPORAL_TLS_CERT_PATH);
    const key = read(env.TEMPORAL_TLS_KEY_PATH);
    const ca = read(env.TEMPORAL_TLS_CA_PATH);
    const withTls = env.TEMPORAL_TLS || env.TEMPORAL_API_KEY !== undefined || crt !== undefined || ca !== undefined;
    return {
      address: env.TEMPORAL_ADDRESS,
      namespace: env.TEMPORAL_NAMESPACE,
      ...(env.TEMPORAL_API_KEY && { apiKey: env.TEMPORAL_API_KEY }),
      ...(withTls && { tls: { ...(ca && { ca }), ...(crt && key && { clientCertPair: { crt, key } }) } }),
    };
  }
  get host(): string {
    return this.env.GANTRY_HOST;
  }
  /** Only this machine reaches it. */
  get isLoopback(): boolean {
    return LOOPBACK_HOSTS.has(this.env.GANTRY_HOST);
  }
  get port(): number {
    return this.env.GANTRY_PORT;
  }
  /** Where a worker answers for its metrics and its health; undefined: nowhere. */
  get workerListener(): { host: string; port: number } | undefined {
    const { GANTRY_WORKER_HOST: host, GANTRY_WORKER_PORT: listening } = this.env;
    return listening === undefined ? undefined : { host, port: listening };
  }
  /** Where Temporal's SDK answers for its own metrics in a worker; undefined: nowhere. */
  get temporalMetrics(): string | undefined {
    return this.env.GANTRY_TEMPORAL_METRICS;
  }
  /** Whether an OpenTelemetry collector gets traces; which, and how, the standard OTEL_… variables configure the exporter. */
  get tracesAreExported(): boolean {
    return (
      this.env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined || this.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined
    );
  }
  /** Lets a scraper read /metrics, of the api and of the workers. */
  get metricsToken(): string | undefined {
    return this.env.GANTRY_METRICS_TOKEN;
  }
  /** Where this deployment's own processes reach its API, for the traces of its runs. */
  get apiUrl(): string {
    const { GANTRY_HOST: host, GANTRY_PORT: port, GANTRY_API_URL: url } = this.env;
    return url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }
  /** Where clients reach this deployment, when their own requests don't say so: for the addresses in agent cards. */
  get publicUrl(): string | undefined {
    return this.env.GANTRY_PUBLIC_URL?.replace(/\/+$/, '');
  }
  /** The assistant, or graph, whose agent card the deployment's own well-known address serves. */
  get a2aAssistant(): string | undefined {
    return this.env.GANTRY_A2A_ASSISTANT;
  }
  get graphConfigPath(): string {
    return this.env.GANTRY_CONFIG;
  }
  /** LANGGRAPH_THREAD_TTL: overrides `checkpointer.ttl` of langgraph.json. */
  get threadTtl(): ThreadTtlSettings | undefined {
    return this.env.LANGGRAPH_THREAD_TTL;
  }
  /** What the default assistants of graphs begin with. */
  get defaultConfigs(): DefaultConfigs {
    return this.env.LANGGRAPH_CONFIG;
  }

  /** Steps that a run may take where neither its client nor its graph says. */
  get recursionLimit(): number {
    return this.env.LANGGRAPH_DEFAULT_RECURSION_LIMIT;
  }
  /** What the operator calls this state of the graphs' code, such as a commit; undefined: a hash of the code. */
  get revision(): string | undefined {
    return this.env.GANTRY_REVISION;
  }
  /** Name of the Worker Deployment of Temporal whose versions the workers are; undefined: they are not versioned. */
  get workerDeployment(): string | undefined {
    return this.env.GANTRY_WORKER_DEPLOYMENT;
  }
  get authEnabled(): boolean {
    return this.env.GANTRY_AUTH;
  }
  get devApiKey(): string | undefined {
    return this.env.GANTRY_API_KEY;
  }
  /** Uploads the traces of any tenant's runs, and nothing else. Workers of this release have keys of their own for it. */
  get internalKey(): string | undefined {
    return this.env.GANTRY_INTERNAL_KEY;
  }
  /** The operator's key for the admin API; undefined switches that API off. */
  get adminKey(): string | undefined {
    return this.env.GANTRY_ADMIN_KEY;
  }
  /** Requests per second of one key or user, in the long run; undefined: as many as it likes. */
  get rateLimits(): { api: number | undefined; traces: number | undefined } {
    return {
      api: this.env.GANTRY_RATE_LIMIT_PER_SECOND,
      traces: this.env.GANTRY_TRACE_RATE_LIMIT_PER_SECOND,
    };
  }
  /** Whether /docs and /openapi.json ask for a key. */
  get docsAreProtected(): boolean {
    const { GANTRY_DOCS: access } = this.env;
    return access === 'auto' ? !this.isLoopback : access === 'protected';
  }
  /** How the audit log keeps the addresses of callers. */
  get auditAddresses(): Environment['GANTRY_AUDIT_ADDRESSES'] {
    return this.env.GANTRY_AUDIT_ADDRESSES;
  }
  get auditRetentionMs(): number {
    return this.env.GANTRY_AUDIT_RETENTION_DAYS * 86_400_000;
  }
  get defaultTenantId(): string {
    return this.env.GANTRY_TENANT_ID;
  }
  /** Keys of stored secrets: the first one seals, all of them open. Without any it is the deployment's secret. */
  get sealingKeys(): Buffer[] {
    return [...this.env.GANTRY_SEALING_KEYS, this.env.GANTRY_SECRET_KEY].map((key) => Buffer.from(key, 'base64'));
  }
  get secretKey(): Buffer {
    return Buffer.from(this.env.GANTRY_SECRET_KEY, 'base64');
  }
  get tracing(): boolean {
    return this.env.GANTRY_TRACING;
  }
  /** Whether traces are shared by public links. */
  get traceSharing(): boolean {
    return this.env.GANTRY_TRACE_SHARING;
  }
  get logLevel(): Environment['GANTRY_LOG_LEVEL'] {
    return this.env.GANTRY_LOG_LEVEL;
  }
  /** The most that a request body may be, but for trace uploads. */
  get bodyLimitBytes(): number {
    return this.env.GANTRY_BODY_LIMIT_BYTES;
  }
  /** Open streams of one API key or user, on each replica. */
  get streamsPerKey(): number {
    return this.env.GANTRY_STREAMS_PER_KEY;
  }
  /** Addresses and networks whose X-Forwarded-* headers say where a request came from and where it was sent to. */
  get trustedProxies(): string[] {
    return this.env.GANTRY_TRUSTED_PROXIES;
  }
  /** Within which a request has to come in, with its body. */
  get requestTimeoutMs(): number {
    return this.env.GANTRY_REQUEST_TIMEOUT_SECONDS * 1000;
  }
  /** The most that one trace upload may be once it is decompressed. */
  get traceLimitBytes(): number {
    return this.env.GANTRY_TRACE_LIMIT_BYTES;
  }
  /** Days of traces that are kept; undefined keeps them all. */
  get traceRetentionDays(): number | undefined {
    return this.env.GANTRY_TRACE_RETENTION_DAYS;
  }
  /** Where attachments of traces go; undefined: to Postgres. */
  get objectStore(): ObjectStoreSettings | undefined {
    const { env } = this;
    const { GANTRY_S3_ACCESS_KEY_ID: accessKeyId, GANTRY_S3_SECRET_ACCESS_KEY: secretAccessKey } = env;
    if (env.GANTRY_S3_BUCKET === undefined) return undefined;
    return {
      endpoint: env.GANTRY_S3_ENDPOINT,
      bucket: env.GANTRY_S3_BUCKET,
      region: env.GANTRY_S3_REGION,
      credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
    };
  }
  get runTimeoutMs(): number {
    return this.env.GANTRY_RUN_TIMEOUT_SECONDS * 1000;
  }
  /** A run whose worker is lost this often after one checkpoint is what kills it. */
  get runLostAttempts(): number {
    return this.env.GANTRY_RUN_LOST_ATTEMPTS;
  }
  get heartbeatTimeoutMs(): number {
    return this.env.GANTRY_HEARTBEAT_TIMEOUT_SECONDS * 1000;
  }
  get shutdownGraceMs(): number {
    return this.env.GANTRY_SHUTDOWN_GRACE_SECONDS * 1000;
  }
  /** How long the runs of a worker that was asked to stop may continue, before it hands them back. */
  get handBackAfterMs(): number {
    return this.env.GANTRY_HAND_BACK_AFTER_SECONDS * 1000;
  }
  /** Between the moment an api stops being ready and the moment it stops taking connections. */
  get drainDelayMs(): number {
    return this.env.GANTRY_DRAIN_DELAY_SECONDS * 1000;
  }
  /** Time for requests in flight when an api stops. */
  get drainTimeoutMs(): number {
    return this.env.GANTRY_DRAIN_TIMEOUT_SECONDS * 1000;
  }
  /** Variables, or prefixes that end in `*`, that graph, app and auth code gets beside those that it always gets. */
  get graphEnvironment(): string[] {
    return this.env.GANTRY_GRAPH_ENV;
  }
  /** How graph processes are confined beside their environment. */
  get graphConfinement(): { memoryMb?: number; uid?: number; gid?: number } {
    const { GANTRY_GRAPH_MEMORY_MB: memoryMb, GANTRY_GRAPH_UID: uid, GANTRY_GRAPH_GID: gid } = this.env;
    return { ...(memoryMb && { memoryMb }), ...(uid && { uid }), ...(gid && { gid }) };
  }
  /** Where graph processes keep what they computed; undefined: in the folder for temporary files. */
  get cacheFolder(): string | undefined {
    const { GANTRY_CACHE_FOLDER: folder } = this.env;
    return folder === undefined ? undefined : resolve(folder);
  }
  /** Whether an api reads graphs' types after its start, before a request needs their schemas. */
  get preparesSchemas(): boolean {
    return this.env.GANTRY_PREPARE_SCHEMAS;
  }
  /** A worker that executes no runs keeps no thread ready for them. */
  get graphThreads(): { min: number; max: number } {
    const min = this.hasQueue('runs') ? this.env.GANTRY_GRAPH_THREADS_MIN : 0;
    return { min, max: this.env.GANTRY_GRAPH_THREADS_MAX ?? Math.max(min, defaultGraphThreads()) };
  }
  /** Whether a worker does this kind of work. */
  hasQueue(queue: WorkerQueue): boolean {
    return this.env.GANTRY_WORKER_QUEUES.includes(queue);
  }
  get pendingRunsPerTenant(): number {
    return this.env.GANTRY_PENDING_RUNS_PER_TENANT;
  }
  get runBatchLimit(): number {
    return this.env.GANTRY_RUN_BATCH_LIMIT;
  }
  get runsPerWorker(): number {
    return this.env.GANTRY_RUNS_PER_WORKER;
  }
  get eventRetentionMs(): number {
    return this.env.GANTRY_EVENT_RETENTION_HOURS * 3_600_000;
  }
  get sweepIntervalMs(): number {
    return this.env.GANTRY_SWEEP_INTERVAL_SECONDS * 1000;
  }
  /** How long a cron remembers what its ticks became. */
  get cronHistoryMs(): number {
    return this.env.GANTRY_CRON_HISTORY_DAYS * 86_400_000;
  }
  get exports(): ExportSettings {
    return {
      concurrency: this.env.GANTRY_EXPORT_CONCURRENCY,
      partitionConcurrency: this.env.GANTRY_EXPORT_PARTITION_CONCURRENCY,
      partitionsPerWorker: this.env.GANTRY_EXPORT_PARTITIONS_PER_WORKER,
      partRows: this.env.GANTRY_EXPORT_PART_ROWS,
      partBytes: this.env.GANTRY_EXPORT_PART_BYTES,
      timeoutMs: this.env.GANTRY_EXPORT_TIMEOUT_SECONDS * 1000,
      latePassSeconds: this.env.GANTRY_EXPORT_LATE_PASS_HOURS * 3_600,
      allowCidrs: this.env.GANTRY_EXPORT_ALLOW_CIDRS,
      ownEndpoint: this.env.GANTRY_S3_ENDPOINT,
      ambientBuckets: this.env.GANTRY_EXPORT_AMBIENT_BUCKETS,
      ambientRoles: this.env.GANTRY_EXPORT_AMBIENT_ROLES,
      stsEndpoint: this.env.GANTRY_EXPORT_STS_ENDPOINT,
    };
  }
  /** Origins whose pages may use the API, beside those of `http.cors`; with authentication off, beside this machine's. */
  get allowedOrigins(): string[] {
    return this.env.GANTRY_ALLOWED_ORIGINS;
  }
  /** Host names from which browsers may use MCP, beside this machine's and the API's own; `*` for all. */
  get mcpAllowedHosts(): string[] {
    return this.env.GANTRY_MCP_ALLOWED_HOSTS;
  }
  /** Whether the event protocol is served; langgraph.json can switch it off as well. The name is the hosted platform's. */
  get servesEventProtocol(): boolean {
    return this.env.FF_V2_EVENT_STREAMING;
  }
  get webhookAllowCidrs(): string[] {
    return this.env.GANTRY_WEBHOOK_ALLOW_CIDRS;
  }
  /** The first one signs alone until a second is added: during a rotation both sign. */
  get webhookSecrets(): string[] {
    return this.env.GANTRY_WEBHOOK_SECRETS;
  }
  /** Whether this is a server of a test suite, which may wipe it. */
  get isForTests(): boolean {
    return this.env.GANTRY_TEST;
  }
  get webhookDelivery(): WebhookDeliverySettings {
    return {
      connectTimeoutMs: this.env.GANTRY_WEBHOOK_CONNECT_TIMEOUT_SECONDS * 1000,
      timeoutMs: this.env.GANTRY_WEBHOOK_TIMEOUT_SECONDS * 1000,
      retryDelaysMs: this.env.GANTRY_WEBHOOK_RETRY_SECONDS.map((delay) => delay * 1000),
      concurrency: this.env.GANTRY_WEBHOOK_CONCURRENCY,
      concurrencyPerHost: this.env.GANTRY_WEBHOOK_CONCURRENCY_PER_HOST,
      responseBytes: this.env.GANTRY_WEBHOOK_RESPONSE_BYTES,
      retentionMs: this.env.GANTRY_WEBHOOK_RETENTION_HOURS * 3_600_000,
    };
  }
}

/**
 * Reads and checks the settings: those of the process, and beside them those that langgraph.json's `env` has.
 * @throws {ConfigError} with every problem listed, each with the variable's name and what would be right.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): AppConfig {
  // An empty variable (as compose files leave them) is the same as an absent one.
  const own = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const configPath = resolve(own.GANTRY_CONFIG ?? 'langgraph.json');
  const present = { ...projectSettings(configPath, Object.keys(environmentSchema.shape)), ...own };
  const parsed = environmentSchema.safeParse(present);
  const problems = parsed.success
    ? []
    : parsed.error.issues.map((issue) => {
        const [name, ...place] = issue.path.map(String);
        if (present[name] === undefined) return `${name} is missing`;
        const at = place.filter(isKey).join('.');
        return [name, ...(at === '' ? [] : [at]), issue.message].join(': ');
      });
  const host = present.GANTRY_HOST ?? '127.0.0.1';
  if (parsed.success) {
    if (!parsed.data.GANTRY_AUTH && !LOOPBACK_HOSTS.has(host)) {
      problems.push(`GANTRY_HOST=${host} is reachable from other machines: set GANTRY_AUTH=on, or bind 127.0.0.1`);
    }
    const workerHost = parsed.data.GANTRY_WORKER_HOST;
    if (!LOOPBACK_HOSTS.has(workerHost) && parsed.data.GANTRY_METRICS_TOKEN === undefined) {
      problems.push(
        `GANTRY_WORKER_HOST=${workerHost} is reachable from other machines: set GANTRY_METRICS_TOKEN, or bind 127.0.0.1`,
      );
    }
    const { GANTRY_GRAPH_UID: uid, GANTRY_GRAPH_GID: gid } = parsed.data;
    if ((uid !== undefined || gid !== undefined) && process.getuid?.() !== 0) {
      problems.push(
        'GANTRY_GRAPH_UID and GANTRY_GRAPH_GID need a process that runs as root: no other may change its user',
      );
    }
    if ((uid === undefined) !== (gid === undefined)) {
      problems.push('GANTRY_GRAPH_UID and GANTRY_GRAPH_GID go together');
    }
    const { GANTRY_GRAPH_THREADS_MIN: min, GANTRY_GRAPH_THREADS_MAX: max = min } = parsed.data;
    if (min > max) {
      problems.push('GANTRY_GRAPH_THREADS_MIN must not be above GANTRY_GRAPH_THREADS_MAX');
    }
    if ((parsed.data.TEMPORAL_TLS_CERT_PATH === undefined) !== (parsed.data.TEMPORAL_TLS_KEY_PATH === undefined)) {
      problems.push('TEMPORAL_TLS_CERT_PATH and TEMPORAL_TLS_KEY_PATH go together');
    }
  }
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return new AppConfig(parsed.data, { ...env });
}
