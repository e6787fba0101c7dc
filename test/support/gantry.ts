import { join } from 'node:path';
import type { Client as TemporalClient, WorkflowHandle } from '@temporalio/client';
import { Client } from '@langchain/langgraph-sdk';
import { Pool } from 'pg';
import { runWorkflowId } from '../../workflows/contracts/run.contract';
import { createTestDatabase, type TestDatabase } from './database';
import { API_PROGRAM, GantryProcess, WORKER_PROGRAM } from './gantry-process';
import { Ledger } from './ledger';
import { freePort } from './ports';
import { createNamespace, temporalAddress, type TestNamespace } from './temporal';
import { waitFor } from './wait-for';

/** The example graphs in TypeScript: they need no Python. */
export const EXAMPLE_GRAPHS = join(__dirname, 'graphs', 'examples.json');
export const TEST_GRAPHS = join(__dirname, 'graphs', 'langgraph.json');
/** The same graphs in Python, by the same names; without those that only concern the JavaScript library. */
export const PYTHON_TEST_GRAPHS = join(__dirname, 'graphs', 'python.json');
/** Configuration with graphs of every shape: typed, configured, functional, nested. */
export const SHAPE_GRAPHS = join(__dirname, 'graphs', 'shapes.json');
export const PYTHON_SHAPE_GRAPHS = join(__dirname, 'graphs', 'shapes-python.json');

export interface GantryOptions {
  /** Path of a langgraph.json; the graphs of test/support/graphs when absent. */
  graphs?: string;
  env?: Record<string, string>;
  /** Workers to begin with; 1 when absent. */
  workers?: number;
  /**
   * Maximum of graph processes of each process; that of a server when absent. With 1, the first run doesn't start a second one, a
   * third of a small file's processor time: for tests in which it doesn't matter which process executes a run.
   */
  graphProcesses?: number;
  /**
   * Seconds between the sweeps for work without a workflow, 3 when absent: each second, they take 3 % of a core of a Gantry that
   * has nothing to do. Tests that wait for a sweep set 1.
   */
  sweepSeconds?: number;
  /** An existing database, which the caller drops. */
  database?: TestDatabase;
}

function keptByCaller({ url }: TestDatabase): TestDatabase {
  return { url, drop: () => Promise.resolve() };
}

/** A whole Gantry of a test's own: api and worker as real processes, a database and a Temporal namespace. */
export class Gantry {
  readonly workers: GantryProcess[] = [];
  private api: GantryProcess | undefined;
  private readonly replicas: GantryProcess[] = [];
  private readonly ended: GantryProcess[] = [];

  private constructor(
    readonly url: string,
    readonly database: TestDatabase,
    /** Pool for queries on Gantry's tables. */
    readonly sql: Pool,
    readonly ledger: Ledger,
    private readonly namespace: TestNamespace,
    private readonly env: Record<string, string>,
  ) {}

  static async start(options: GantryOptions = {}): Promise<Gantry> {
    const { graphs = TEST_GRAPHS, env = {}, workers = 1, graphProcesses, sweepSeconds = 3 } = options;
    const [database, namespace, port] = await Promise.all([
      options.database ? keptByCaller(options.database) : createTestDatabase(),
      createNamespace(),
      freePort(),
    ]);
    const url = `http://127.0.0.1:${port}`;
    const sql = new Pool({ connectionString: database.url, max: 4 });
    // The database may be dropped before the last connection has said goodbye.
    sql.on('error', () => undefined);
    const gantry = new Gantry(url, database, sql, new Ledger(sql), namespace, {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporalAddress(),
      TEMPORAL_NAMESPACE: namespace.name,
      GANTRY_PORT: String(port),
      GANTRY_API_URL: url,
      GANTRY_CONFIG: graphs,
      GANTRY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      GANTRY_TRACING: 'off',
      GANTRY_PREPARE_SCHEMAS: 'off',
      GANTRY_EXPORT_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
      GANTRY_LOG_LEVEL: process.env.GANTRY_LOG_LEVEL ?? 'info',
      GANTRY_SWEEP_INTERVAL_SECONDS: String(sweepSeconds),
      GANTRY_WORKFLOW_AFTER_SECONDS: '2',
      GANTRY_TEST_LEDGER_URL: database.url,
      GANTRY_GRAPH_ENV: 'GANTRY_TEST_*',
      ...(process.env.GANTRY_TEST_GRAPH_PYTHON && { GANTRY_PYTHON: process.env.GANTRY_TEST_GRAPH_PYTHON }),
      ...(graphProcesses && { GANTRY_GRAPH_THREADS_MAX: String(graphProcesses) }),
      ...env,
    });
    try {
      await gantry.ledger.create();
      await Promise.all([gantry.startApi(), ...Array.from({ length: workers }, () => gantry.startWorker())]);
      return gantry;
    } catch (error) {
      await gantry.stop();
      throw error;
    }
  }

  /** The public client, as users use it. */
  client(options: { apiKey?: string | null; headers?: Record<string, string> } = {}): Client {
    const { apiKey = null, headers = {} } = options;
    return new Client({ apiUrl: this.url, apiKey, defaultHeaders: headers, callerOptions: { maxRetries: 0 } });
  }

  get temporal(): TemporalClient {
    return this.namespace.client;
  }

  /** The workflow of a run, once it is there. A run gets one when it takes longer than GANTRY_WORKFLOW_AFTER_SECONDS. */
  async workflowOf(run: string): Promise<WorkflowHandle> {
    const workflow = this.temporal.workflow.getHandle(runWorkflowId(run));
    await waitFor('the workflow of the run', () =>
      workflow.describe().then(
        () => true,
        () => false,
      ),
    );
    return workflow;
  }

  /** The newest worker. */
  get worker(): GantryProcess {
    const worker = this.workers.at(-1);
    if (!worker) throw new Error('There is no worker');
    return worker;
  }

  /** Kills every process at once, as a power failure does; stored data stays. */
  async killAll(): Promise<void> {
    await Promise.all([this.killApi(), ...[...this.workers].map((worker) => this.killWorker('SIGKILL', worker))]);
  }

  async startApi(): Promise<void> {
    this.api = await GantryProcess.start('api', API_PROGRAM, this.env);
  }

  /**
   * Another api of the same deployment; resolves to its address.
   * @param env where its settings differ
   */
  async startReplica(env: Record<string, string> = {}): Promise<string> {
    const port = await freePort();
    this.replicas.push(
      await GantryProcess.start('api', API_PROGRAM, { ...this.env, GANTRY_PORT: String(port), ...env }),
    );
    return `http://127.0.0.1:${port}`;
  }

  async killApi(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { api } = this;
    if (!api) return;
    this.api = undefined;
    this.ended.push(api);
    await api.kill(signal);
  }

  async startWorker(env: Record<string, string> = {}): Promise<GantryProcess> {
    const worker = await GantryProcess.start('worker', WORKER_PROGRAM, { ...this.env, ...env });
    this.workers.push(worker);
    return worker;
  }

  /** Ends a worker, by default the newest, and waits for its end. */
  async killWorker(signal: NodeJS.Signals = 'SIGKILL', worker = this.worker): Promise<void> {
    this.workers.splice(this.workers.indexOf(worker), 1);
    this.ended.push(worker);
    await worker.kill(signal);
  }

  /** The last output of the processes, for the message of a failure. */
  logs(count = 60): string {
    const processes = [...this.ended, ...(this.api ? [this.api] : []), ...this.replicas, ...this.workers];
    return processes.map(({ name, pid, lines }) => `--- ${name} ${pid}\n${lines.slice(-count).join('\n')}`).join('\n');
  }

  /** Ends the processes that were started here, and removes the database and the namespace. */
  async stop(): Promise<void> {
    // Frozen processes don't react to SIGTERM, and their work isn't needed any more.
    const processes = [...(this.api ? [this.api] : []), ...this.replicas, ...this.workers];
    await Promise.all(processes.map((each) => each.kill('SIGKILL')));
    await this.sql.end();
    await this.database.drop();
    await this.namespace.drop();
  }
}

export const startGantry = (options?: GantryOptions): Promise<Gantry> => Gantry.start(options);

/** Timeout of a start, which may be refused in the middle. */
const REFUSAL_MS = 90_000;

/** Starts a process of Gantry that is expected to refuse, and resolves to its exit code and what it wrote. */
export async function runToExit(
  which: 'api' | 'worker',
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const refusing = GantryProcess.launch(which, which === 'api' ? API_PROGRAM : WORKER_PROGRAM, env);
  await refusing.end(REFUSAL_MS);
  return { code: refusing.exitCode, output: refusing.output };
}
