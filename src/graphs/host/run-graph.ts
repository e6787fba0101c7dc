import type { StateSnapshot } from '@langchain/langgraph';
import type { TenantId } from '../../database/tenant-id';
import { isSecretName } from '../../crypto/secret-names';
import type { AuthUser } from '../../database/request-scope';
import type { ItemStore } from '../../item-store/item-store';
import type { Fence } from '../../database/fence';
import { beginsWithItsInput, CHECKPOINTER, STRICT_RESUME } from '../../patches/langgraph/graph-internals';
import { TOKEN_REFUSED } from '../../database/tenant-token';
import { toCommand } from './graph-command';
import type { AnyGraph, FactoryConfig, GraphLoader } from './graph-loader';
import type { CommandInput, ExecuteRequest, FinalState, GraphOutcome, RunError, RunEventMessage } from './protocol';
import { refuseMissingNodes } from './missing-nodes';
import { HandedBack, RunCheckpointSaver } from './run-checkpoint-saver';
import { checkStrictResume, isRefusedResume, refusalOf } from './strict-resume';
import { streamRun, StreamProgress, type StreamConfig } from './run-stream';
import { RunStore } from './run-store';
import type { RunTracer } from './run-tracer';
import type { Connections, TenantAccess } from './tenant-connections';
import { toFinalState } from './thread-state';
import { withoutEmitted } from './emitted-events';
import { findMissingEvents } from './missing-events';
import { UntrackedOutput } from './untracked-output';
import { toWireJson } from './wire-json';

export interface RunContext {
  graphs: GraphLoader;
  /** Limit of steps for runs whose client and graph set none. */
  recursionLimit: number;
  connectionsOf: (access: TenantAccess) => Connections;
  storeOf: (access: TenantAccess) => ItemStore;
  tracer?: RunTracer;
}

/** Signals of the worker to a run in flight. */
export interface RunControl {
  signal: AbortSignal;
  isHandingBack: () => boolean;
  /** Called for each node that begins. */
  onNode: (node: string) => void;
}

/**
 * Runs a graph to its end, its next interrupt or the abort, starting where the run's last checkpoint left it. Errors of the
 * graph are part of the outcome.
 * @throws if something else failed: the database, or because another attempt owns the run (FencedError)
 */
export async function* runGraph(
  context: RunContext,
  request: ExecuteRequest,
  { signal, isHandingBack, onNode }: RunControl,
): AsyncGenerator<RunEventMessage, GraphOutcome> {
  const { kwargs } = request;
  const progress = new StreamProgress();
  const fence: Fence = { runId: request.runId, attempt: request.attempt };
  const saver = new RunCheckpointSaver(context.connectionsOf(request), {
    tenantId: request.tenantId,
    fence,
    threadId: request.threadId,
    threadIsNew: request.threadIsNew,
    metadata: checkpointMetadata(request),
    handBack: { isWanted: isHandingBack, untilRead: () => progress.untilRead() },
    graphFile: context.graphs.source(request.graphId)?.file,
  });
  const store = new RunStore(context.storeOf(request), request.tenantId as TenantId, fence);
  const config = runConfig(context, request, saver, store, signal);
  let failure: GraphOutcome | undefined;
  let graph: AnyGraph | undefined;
  let untracked: UntrackedOutput | undefined;
  try {
    graph = await context.graphs.get(request.graphId, {
      accessContext: 'threads.create_run',
      config: factoryConfig(config, saver, store),
    });
    config.recursionLimit ??= graph.config?.recursionLimit ?? context.recursionLimit;
    if (beginsWithItsInput(graph)) saver.deferInput();
    const resuming = request.attempt > 1 && (await hasCheckpointOf(saver, request));
    const unknown = resuming && !request.handedBack ? await unfinishedTasks(graph, config, request.threadId) : [];
    if (unknown.length > 0 && request.onUnknown === 'interrupt')
      return await stopBeforeUnknown(graph, request, config, unknown);
    config.configurable!.unknown_outcome_tasks = unknown.map(({ id }) => id);
    if (resuming) yield* await findMissingEvents(graph, config, request);
    const input = resuming ? null : await runInput(context.graphs, graph, config, request);
    if (input === null || kwargs.command) await refuseMissingNodes(graph, saver, request);
    const { file } = context.graphs.source(request.graphId)!;
    untracked = UntrackedOutput.of(graph);
    const control = { onNode, progress, written: () => saver.written(), untracked };
    const events = streamRun(graph, input, config, { kwargs, file }, control);
    yield* request.attempt > 1 ? withoutEmitted(events, request.emitted) : events;
  } catch (error) {
    const handedBack = handedBackBy(error);
    if (handedBack) return { status: 'handed-back', inDoubt: handedBack.inDoubt };
    if (isInfrastructure(error)) throw error;
    failure = signal.aborted ? { status: 'aborted' } : { status: 'error', error: describeError(error) };
  }
  if (!graph) return failure!;
  try {
    const untrackedJson = untracked?.toJson();
    const state = {
      ...(await finalState(graph, request.threadId, saver)),
      ...(untrackedJson !== undefined && { untracked: untrackedJson }),
    };
    return { ...(failure ?? { status: signal.aborted ? 'aborted' : 'success' }), state };
  } catch (error) {
    // The state is computed by the graph's reducers: one that throws does so here again.
    if (isInfrastructure(error)) throw error;
    return failure ?? { status: 'error', error: describeError(error) };
  }
}

function runConfig(
  context: RunContext,
  request: ExecuteRequest,
  saver: RunCheckpointSaver,
  store: RunStore,
  signal: AbortSignal,
): StreamConfig {
  const { kwargs } = request;
  return {
    ...(kwargs.config?.tags && { tags: kwargs.config.tags }),
    ...(kwargs.config?.recursion_limit && { recursionLimit: kwargs.config.recursion_limit }),
    metadata: { ...request.metadata, ...withheld(notForTraces(request)) },
    configurable: {
      ...kwargs.config?.configurable,
      ...request.headers,
      ...kwargs.checkpoint,
      ...authConfig(kwargs.auth_user),
      run_id: request.runId,
      thread_id: request.threadId,
      graph_id: request.graphId,
      assistant_id: request.assistantId,
      run_attempt: request.attempt,
      [CHECKPOINTER]: saver,
      ...(kwargs.strict_resume && { [STRICT_RESUME]: true }),
    },
    store,
    // Never undefined: graphs read values of it without asking whether there are any.
    context: kwargs.context ?? {},
    ...(kwargs.interrupt_before && { interruptBefore: kwargs.interrupt_before }),
    ...(kwargs.interrupt_after && { interruptAfter: kwargs.interrupt_after }),
    // Asynchronous checkpoints would leave a gap in which a finished node runs again: `async` is the minimum.
    durability: kwargs.durability === 'exit' ? 'exit' : 'sync',
    runId: request.runId,
    signal,
    ...(context.tracer && { callbacks: context.tracer.callbacks(request, kwargs.langsmith_tracer) }),
  };
}

/** Arguments for a function that makes the graph of this run. */
function factoryConfig(config: StreamConfig, checkpointer: RunCheckpointSaver, store: RunStore): FactoryConfig {
  const { [CHECKPOINTER]: _, ...configurable } = config.configurable!;
  const { tags, recursionLimit, metadata = {}, context = {} } = config;
  return {
    ...(tags && { tags }),
    ...(recursionLimit && { recursion_limit: recursionLimit }),
    configurable,
    metadata,
    context: context as Record<string, unknown>,
    store,
    checkpointer,
  };
}

/**
 * The library copies each `configurable` that is text into the metadata of traces and streams, unless the metadata have the
 * name already. With undefined they have it, and write nothing.
 */
function withheld(configurable: Record<string, unknown>): Record<string, undefined> {
  return Object.fromEntries(Object.keys(configurable).map((name) => [name, undefined]));
}

/** The headers and the user of the request, and what has the name of a secret. */
function notForTraces({ headers, kwargs }: ExecuteRequest): Record<string, unknown> {
  const given = Object.entries(kwargs.config?.configurable ?? {});
  const secrets = Object.fromEntries(given.filter(([name]) => isSecretName(name)));
  return { ...secrets, ...headers, ...authConfig(kwargs.auth_user) };
}

/** Keys with which the hosted server passes the user to a graph; they are removed from requests. */
function authConfig(user: AuthUser | undefined): Record<string, unknown> {
  if (!user) return {};
  return {
    langgraph_auth_user: user,
    langgraph_auth_user_id: user.identity,
    langgraph_auth_permissions: user.permissions,
  };
}

function checkpointMetadata(request: ExecuteRequest): Record<string, unknown> {
  return {
    ...request.metadata,
    run_id: request.runId,
    thread_id: request.threadId,
    graph_id: request.graphId,
    assistant_id: request.assistantId,
    run_attempt: request.attempt,
  };
}

/** Whether an earlier attempt of this run got as far as a checkpoint: then the input is in the state already. */
async function hasCheckpointOf(saver: RunCheckpointSaver, request: ExecuteRequest): Promise<boolean> {
  const tuple = await saver.getTuple({ configurable: { thread_id: request.threadId } });
  return (tuple?.metadata as { run_id?: string } | undefined)?.run_id === request.runId;
}

type UnfinishedTask = StateSnapshot['tasks'][number];

/** The nodes that the earlier attempt had begun, as far as the checkpoint shows, and of which no result was stored. */
async function unfinishedTasks(graph: AnyGraph, config: StreamConfig, threadId: string): Promise<UnfinishedTask[]> {
  const { tasks }: StateSnapshot = await graph.getState(stateConfig(config, threadId));
  return tasks.filter((task) => task.result === undefined && task.interrupts.length === 0);
}

/** Ends the run in front of the nodes in doubt: the thread waits for a person, and resumes with a run without input. */
async function stopBeforeUnknown(
  graph: AnyGraph,
  request: ExecuteRequest,
  config: StreamConfig,
  unknown: UnfinishedTask[],
): Promise<GraphOutcome> {
  const snapshot: StateSnapshot = await graph.getState(stateConfig(config, request.threadId));
  const questions = unknown.map((task) => {
    const value = {
      type: 'unknown_outcome',
      node: task.name,
      run_id: request.runId,
      attempt: request.attempt - 1,
      message: `A worker was lost while "${task.name}" ran: it may or may not have taken effect. Run without input to start it again.`,
    };
    return [task.id, [{ id: task.id, value }]];
  });
  const state = { ...toFinalState(snapshot), interrupts: toWireJson(Object.fromEntries(questions)) };
  return { status: 'success', state };
}

function stateConfig({ configurable }: StreamConfig, threadId: string) {
  const saver: unknown = configurable?.[CHECKPOINTER];
  return { configurable: { thread_id: threadId, [CHECKPOINTER]: saver } };
}

async function runInput(
  graphs: GraphLoader,
  graph: AnyGraph,
  config: StreamConfig,
  { kwargs, threadId, graphId }: ExecuteRequest,
): Promise<unknown> {
  const { input, command } = kwargs;
  if (!command) return input ?? null;
  if (kwargs.strict_resume) await checkStrictResume(graphs.source(graphId)!.file);
  const resume = await resumeValue(graph, config, threadId, command);
  return toCommand({ ...command, resume }, graph, graphs.source(graphId)!.file);
}

/** The library treats `false`, `0` and `""` as no answer, unless each is addressed to its interrupt. */
async function resumeValue(
  graph: AnyGraph,
  config: StreamConfig,
  threadId: string,
  { resume }: CommandInput,
): Promise<unknown> {
  if (resume === undefined || Boolean(resume)) return resume;
  const { tasks }: StateSnapshot = await graph.getState(stateConfig(config, threadId));
  const ids = tasks.flatMap((task) => task.interrupts.map((interrupt) => interrupt.id));
  return Object.fromEntries(ids.map((id) => [id, resume]));
}

async function finalState(graph: AnyGraph, threadId: string, saver: RunCheckpointSaver): Promise<FinalState> {
  const snapshot: StateSnapshot = await graph.getState({
    configurable: { thread_id: threadId, [CHECKPOINTER]: saver },
  });
  return toFinalState(snapshot);
}

function describeError(error: unknown): RunError {
  if (!(error instanceof Error)) return { error: 'Error', message: String(error) };
  return { error: error.name, message: error.message, ...(isRefusedResume(error) && refusalOf(error)) };
}

function handedBackBy(error: unknown): HandedBack | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof HandedBack) return cause;
  return undefined;
}

/**
 * Whether another attempt is right, rather than an end as `error`: after lost connections, a database shutdown or a fencing
 * error.
 */
function isInfrastructure(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = 'code' in cause ? String(cause.code) : '';
    if (cause.name === 'FencedError' || cause.name === 'PostgresUnreachable' || code === TOKEN_REFUSED) return true;
    // Postgres classes 08 (connection), 53 (resources), 57 (operator intervention: shutdown, crash), and sockets.
    if (/^(08|53|57)...$/.test(code) || ('severity' in cause === false && isPoolError(cause))) return true;
  }
  return false;
}

const POOL_ERRORS =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/;

function isPoolError(error: Error): boolean {
  return POOL_ERRORS.test(error.message);
}
