import { resolve } from 'node:path';
import { ConfigError } from './config-error';
import { environmentSchema, type Environment } from './environment';
import type { PythonSettings } from './python-settings';
import { type LanggraphJson, parseLanggraphJson, type ProjectFile, readProjectFile } from './langgraph-json';
import { namesEncryption, projectSettings } from './project-settings';
import { type AuthSettings, authSettings } from './settings/auth';
import { databaseProblems, type DatabaseSettings, databaseSettings } from './settings/database';
import { type ExportSettings, exportSettings } from './settings/exports';
import { graphProblems, type GraphSettings, graphSettings } from './settings/graphs';
import { httpSettings, type ServerSettings } from './settings/http';
import { type CronSettings, cronSettings, type RunSettings, runSettings } from './settings/runs';
import { type AuditSettings, auditSettings, type SecretSettings, secretSettings } from './settings/security';
import { type TelemetrySettings, telemetrySettings } from './settings/telemetry';
import { temporalProblems, type TemporalSettings, temporalSettings, temporalUiUrl } from './settings/temporal';
import { traceProblems, type TraceSettings, traceSettings } from './settings/traces';
import { type WebhookProcessSettings, webhookSettings } from './settings/webhooks';
import { type WorkerSettings, workerSettings } from './settings/worker';
import { isLoopback } from './variables';

/** The validated settings of a process, by feature. Durations are in milliseconds. */
export class AppConfig {
  readonly version = '0.1.0';
  readonly database: DatabaseSettings;
  readonly http: ServerSettings;
  readonly auth: AuthSettings;
  readonly secrets: SecretSettings;
  readonly audit: AuditSettings;
  readonly telemetry: TelemetrySettings;
  readonly graphs: GraphSettings;
  readonly runs: RunSettings;
  readonly crons: CronSettings;
  readonly worker: WorkerSettings;
  readonly traces: TraceSettings;
  readonly exports: ExportSettings;
  readonly webhooks: WebhookProcessSettings;
  /** Pages of this deployment in Temporal's own user interface. */
  readonly temporalUiUrl: string | undefined;
  private parsedProject: LanggraphJson | undefined;

  constructor(
    private readonly env: Environment,
    /**
     * The environment as the process got it: header templates of webhooks may name any variable under their prefix, and graph
     * code gets those on its list.
     */
    readonly templateEnvironment: Readonly<Record<string, string | undefined>>,
    private readonly project: ProjectFile,
  ) {
    this.database = databaseSettings(env);
    this.http = httpSettings(env);
    this.auth = authSettings(env, this.http.publicUrl ?? this.http.apiUrl);
    this.secrets = secretSettings(env);
    this.audit = auditSettings(env);
    this.telemetry = telemetrySettings(env);
    this.worker = workerSettings(env);
    this.graphs = graphSettings(env, this.worker.queues.includes('runs'));
    this.runs = runSettings(env);
    this.crons = cronSettings(env);
    this.traces = traceSettings(env, namesEncryption(project));
    this.exports = exportSettings(env, env.GANTRY_S3_ENDPOINT);
    this.webhooks = webhookSettings(env);
    this.temporalUiUrl = temporalUiUrl(env);
  }

  /** Whether there is a langgraph.json; the operator's commands do without. */
  get hasLanggraphJson(): boolean {
    return this.project.text !== undefined;
  }

  /** Settings of langgraph.json. @throws {ConfigError} with every problem of the file, or when there is none */
  get langgraphJson(): LanggraphJson {
    return (this.parsedProject ??= parseLanggraphJson(this.project));
  }

  /** How user code in Python is started. @throws {ConfigError} as `langgraphJson` */
  get python(): PythonSettings {
    return { interpreter: this.graphs.python, importFolders: this.langgraphJson.importFolders };
  }

  /** Read when it is needed: commands that don't connect need no certificates. */
  get temporal(): TemporalSettings {
    return temporalSettings(this.env);
  }
}

/** False for array indices: users write the list with commas and don't count positions. */
const isKey = (place: string): boolean => !/^\d+$/.test(place);

/**
 * Reads and checks the settings: those of the process, and beside them those that langgraph.json's `env` has.
 * @throws {ConfigError} with every problem listed, each with the variable's name and what would be right.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): AppConfig {
  // An empty variable (as compose files leave them) is the same as an absent one.
  const own = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const project = readProjectFile(resolve(own.GANTRY_CONFIG ?? 'langgraph.json'));
  const present = { ...projectSettings(project, Object.keys(environmentSchema.shape)), ...own };
  const parsed = environmentSchema.safeParse(present);
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues.map((issue) => {
        const [name, ...place] = issue.path.map(String);
        if (present[name] === undefined) return `${name} is missing`;
        const at = place.filter(isKey).join('.');
        return [name, ...(at === '' ? [] : [at]), issue.message].join(': ');
      }),
    );
  }
  const problems = [
    ...exposureProblems(parsed.data),
    ...databaseProblems(parsed.data),
    ...graphProblems(parsed.data),
    ...temporalProblems(parsed.data),
    ...traceProblems(parsed.data),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return new AppConfig(parsed.data, { ...env }, project);
}

/** Listeners that other machines could reach without a key. */
function exposureProblems(env: Environment): string[] {
  const { GANTRY_HOST: host, GANTRY_WORKER_HOST: workerHost } = env;
  const problems: string[] = [];
  if (env.GANTRY_OAUTH_ISSUER !== undefined && !env.GANTRY_AUTH) {
    problems.push('GANTRY_OAUTH_ISSUER: nothing asks for tokens without GANTRY_AUTH=on');
  }
  if (!env.GANTRY_AUTH && !isLoopback(host)) {
    problems.push(`GANTRY_HOST=${host} is reachable from other machines: set GANTRY_AUTH=on, or bind 127.0.0.1`);
  }
  if (!isLoopback(workerHost) && env.GANTRY_METRICS_TOKEN === undefined) {
    problems.push(
      `GANTRY_WORKER_HOST=${workerHost} is reachable from other machines: set GANTRY_METRICS_TOKEN, or bind 127.0.0.1`,
    );
  }
  return problems;
}
