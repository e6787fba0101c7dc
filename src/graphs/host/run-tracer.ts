import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import { Client, type RunTree } from 'langsmith';
import type { ExecuteRequest, TraceWish, TracingSettings } from './protocol';

/** Sends the server's own runs to its own trace API, by the public client: one project per graph. */
export class RunTracer {
  private readonly clients = new Map<string, TraceClient>();

  constructor(private readonly settings: TracingSettings) {}

  /** A callback that traces one run into the project named after its graph, and into the one that the run asks for. */
  callback(
    { tenantId, graphId: projectName, traceKey }: Pick<ExecuteRequest, 'tenantId' | 'graphId' | 'traceKey'>,
    wish: TraceWish = {},
  ): LangChainTracer {
    const { project_name: extra, example_id: exampleId } = wish;
    const client = this.client(tenantId, traceKey);
    if (!extra || extra === projectName)
      return runByRun(new LangChainTracer({ projectName, client, ...(exampleId && { exampleId }) }));
    const updates = exampleId ? { reference_example_id: exampleId } : undefined;
    const replicas = [{ projectName }, { projectName: extra, ...(updates && { updates }) }];
    return runByRun(new LangChainTracer({ projectName, client, replicas }));
  }

  /** Sends what is still queued, for a thread that ends. */
  async flush(): Promise<void> {
    await Promise.all([...this.clients.values()].map((client) => client.awaitPendingTraceBatches()));
  }

  private client(tenantId: string, traceKey: string | undefined): TraceClient {
    const known = this.clients.get(tenantId);
    if (known) return known.renewed(traceKey);
    const client = new TraceClient({
      apiUrl: this.settings.apiUrl,
      apiKey: traceKey ?? 'none',
      workspaceId: tenantId,
      // A trace store that is slow or away costs traces, never a run: nothing waits for it.
      blockOnRootRunFinalization: false,
    });
    this.clients.set(tenantId, client);
    return client;
  }
}

/**
 * Sends a batch as one JSON text. As multipart, which the library prefers, each field of each run is a stream of its own:
 * that took longer than all else about a trace. Only attachments need it.
 */
class TraceClient extends Client {
  constructor(config: ConstructorParameters<typeof Client>[0]) {
    super(config);
    // Private to the library (langsmith 0.12.0), which compresses runs one by one as multipart where it may, and asks the
    // environment, which is the users' own.
    Object.assign(this, { _runCompressionDisabled: true });
  }

  /** Uploads with the newest run's key from now on: those of earlier runs expire before it. */
  renewed(traceKey: string | undefined): this {
    return Object.assign(this, { apiKey: traceKey ?? 'none' });
  }

  override createRun(...[run, options]: Parameters<Client['createRun']>): Promise<void> {
    return super.createRun(withoutRuntime(run), options);
  }

  override updateRun(...[id, run, options]: Parameters<Client['updateRun']>): Promise<void> {
    return super.updateRun(id, withoutRuntime(run), options);
  }

  override async multipartIngestRuns(...[batch, options]: Parameters<Client['multipartIngestRuns']>): Promise<void> {
    const { runCreates = [], runUpdates = [] } = batch;
    if ([...runCreates, ...runUpdates].some(({ attachments }) => attachments)) {
      return super.multipartIngestRuns(batch, options);
    }
    return this.batchIngestRuns({ runCreates, runUpdates }, options);
  }
}

/** LangGraph gives a model's call its whole runtime as options: the store, and the user who made the run. */
function withoutRuntime<T extends { extra?: { options?: Record<string, unknown> } }>(run: T): T {
  const { extra } = run;
  if (!extra?.options) return run;
  const { serverInfo: _user, store: _store, ...options } = extra.options;
  return { ...run, extra: { ...extra, options } };
}

/**
 * The library keeps with each run all runs below it, and copies them with every further one. Since it sends each run by
 * itself, they are not read: a run of a thousand steps would spend nine tenths of its time on these copies. And it makes
 * a run's tree again for each of its uses, of which a shallow copy is as good and ten times as fast.
 */
function runByRun(tracer: LangChainTracer): LangChainTracer {
  const copy = tracer.copyWithTracingConfig.bind(tracer);
  return Object.assign(tracer, {
    _addChildRun: () => undefined,
    copyWithTracingConfig: (...config: Parameters<typeof copy>) => runByRun(copy(...config)),
    getRunTreeWithTracingConfig: (id: string) => {
      const tree = tracer.getRun(id) as RunTree | undefined;
      return tree && shallowCopy(tree, settingsOf(tracer, tree));
    },
  });
}

function settingsOf({ client, projectName, address, replicas, exampleId }: LangChainTracer, tree: RunTree): object {
  return {
    client,
    project_name: projectName,
    address,
    replicas: replicas ?? tree.replicas,
    reference_example_id: exampleId,
    tracingEnabled: true,
  };
}

function shallowCopy<T extends object>(value: T, changes: object): T {
  return Object.assign(Object.create(Object.getPrototypeOf(value) as object) as T, value, changes);
}
