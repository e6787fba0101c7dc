import { CallbackManager, type Callbacks } from '@langchain/core/callbacks/manager';
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import type { Client } from 'langsmith';
import { RunTree } from 'langsmith/run_trees';
import { runByRun } from '../../patches/langchain-core/run-by-run';
import { JsonBatchClient } from '../../patches/langsmith/json-batch-client';
import type { ExecuteRequest, TraceRequest, TracingSettings } from './protocol';

/** Place of a run in its trace: start and id of each run from the trace's first one down to it. */
const TRACE_POSITION = /^(?:\d{8}T\d{12}Z[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:\.|$))+(?<!\.)$/i;

/** Longest time for which runs are collected for one upload. */
const COLLECT_MS = 250;
/** Number of starts and ends of runs after which an upload begins before that, and that it may have at most. */
const COLLECT_OPERATIONS = 1_000;

type TracedRun = Pick<ExecuteRequest, 'tenantId' | 'graphId' | 'traceKey' | 'headers'>;

/** Sends the server's own runs to its own trace API, by the public client: one project per graph. */
export class RunTracer {
  private readonly clients = new Map<string, TraceClient>();

  constructor(private readonly settings: TracingSettings) {}

  /** Callbacks that trace one run, below the run of a caller who names its own in `langsmith-trace`. */
  callbacks(run: TracedRun, requested?: TraceRequest): Callbacks {
    const tracer = this.callback(run, requested);
    const position = run.headers['langsmith-trace']?.trim() ?? '';
    if (!TRACE_POSITION.test(position)) return [tracer];
    const { client, projectName: project_name } = tracer;
    const parent = RunTree.fromHeaders({ 'langsmith-trace': position }, { client: client as Client, project_name })!;
    tracer.updateFromRunTree(parent);
    const manager = new CallbackManager(parent.id);
    manager.addHandler(tracer);
    return manager;
  }

  /** A callback that traces one run into the project named after its graph, and into the one that the run requests. */
  callback(
    { tenantId, graphId: projectName, traceKey }: Omit<TracedRun, 'headers'>,
    requested: TraceRequest = {},
  ): LangChainTracer {
    const { project_name: extra, example_id: exampleId } = requested;
    const client = this.client(tenantId, traceKey);
    if (!extra || extra === projectName)
      return runByRun(new LangChainTracer({ projectName, client, ...(exampleId && { exampleId }) }));
    const updates = exampleId ? { reference_example_id: exampleId } : undefined;
    const replicas = [{ projectName }, { projectName: extra, ...(updates && { updates }) }];
    return runByRun(new LangChainTracer({ projectName, client, replicas }));
  }

  /** Sends queued data, for a thread that ends. */
  async flush(): Promise<void> {
    await Promise.all([...this.clients.values()].map((client) => client.awaitUploads()));
  }

  private client(tenantId: string, traceKey: string | undefined): TraceClient {
    const known = this.clients.get(tenantId);
    if (known) return known.renewed(traceKey);
    const client = new TraceClient({
      apiUrl: this.settings.apiUrl,
      apiKey: traceKey ?? 'none',
      workspaceId: tenantId,
      // Nothing waits for the trace store: if it is slow or unavailable, traces are lost, but no runs.
      blockOnRootRunFinalization: false,
    });
    this.clients.set(tenantId, client);
    return client;
  }
}

/**
 * Uploads what is queued at a fixed interval. The library would start a timer for each operation and, if several come at once, upload
 * after each of them: with many runs at once, dozens of small uploads per second.
 */
class TraceClient extends JsonBatchClient {
  private timer: NodeJS.Timeout | undefined;
  private collected = 0;
  private readonly uploads = new Set<Promise<void>>();

  constructor(config: ConstructorParameters<typeof JsonBatchClient>[0]) {
    super({ ...config, manualFlushMode: true, batchSizeLimit: COLLECT_OPERATIONS });
  }

  /** Uploads with the newest run's key from now on: those of earlier runs expire before it. */
  renewed(traceKey: string | undefined): this {
    return Object.assign(this, { apiKey: traceKey ?? 'none' });
  }

  override async createRun(...[run, options]: Parameters<Client['createRun']>): Promise<void> {
    await super.createRun(withoutRuntime(run), options);
    this.scheduleUpload();
  }

  override async updateRun(...[id, run, options]: Parameters<Client['updateRun']>): Promise<void> {
    await super.updateRun(id, withoutRuntime(run), options);
    this.scheduleUpload();
  }

  /** Resolves when all runs that have been queued are uploaded. */
  async awaitUploads(): Promise<void> {
    this.upload();
    while (this.uploads.size > 0) await Promise.all(this.uploads);
  }

  private scheduleUpload(): void {
    this.collected += 1;
    if (this.collected >= COLLECT_OPERATIONS) this.upload();
    else this.timer ??= setTimeout(() => this.upload(), COLLECT_MS);
  }

  private upload(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.collected = 0;
    const upload = this.flush().catch((error: unknown) => console.warn('Traces were not uploaded:', error));
    this.uploads.add(upload);
    void upload.finally(() => this.uploads.delete(upload));
  }
}

/**
 * LangGraph passes its whole runtime to a model's call as options, including the store, the user who created the run and the run's
 * context, which may have keys.
 */
function withoutRuntime<T extends { extra?: { options?: Record<string, unknown> } }>(run: T): T {
  const { extra } = run;
  if (!extra?.options) return run;
  const { serverInfo: _user, store: _store, context: _context, ...options } = extra.options;
  return { ...run, extra: { ...extra, options } };
}
