import type { StateSnapshot } from '@langchain/langgraph';
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { TenantId } from '../../database/tenant-id';
import { isSecretName } from '../../crypto/secret-names';
import type { AuthUser } from '../../database/request-scope';
import type { ItemStore } from '../../item-store/item-store';
import type { Fence } from '../../database/fence';
import { beginsWithItsInput, CHECKPOINTER, STRICT_RESUME } from '../../patches/langgraph/graph-internals';
import { canLimitTasks } from '../../patches/langgraph/one-at-once';
import { unlessAborted } from './aborted';
import { addressed } from './falsy-answers';
import { toCommand } from './graph-command';
import type { AnyGraph, FactoryConfig, GraphLoader, GraphUse } from './graph-loader';
import { isInfrastructure } from './infrastructure-errors';
import type { ExecuteRequest, GraphOutcome, RunError, RunEventMessage } from './protocol';
import { refuseMissingNodes } from './missing-nodes';
import { HandedBack } from './left-graphs';
import { RunCheckpointSaver } from './run-checkpoint-saver';
import { checkStrictResume, refusalOf } from './strict-resume';
import { streamRun, StreamProgress, type StreamConfig } from './run-stream';
import { RunStore } from './run-store';
import type { RunTracer } from './run-tracer';
import type { Connections, TenantAccess } from './tenant-connections';
import { toFinalState } from './thread-state';
import { withoutEmitted } from './emitted-events';
import { findMissingEvents } from './missing-events';
import { causesOf, describeThrown } from './thrown-values';
import { beginsWithWaitingNodes, stopBeforeUnknown, unfinishedTasks } from './unknown-outcomes';
import { UntrackedOutput } from './untracked-output';

export interface RunContext {
  graphs: GraphLoader;
  /** Limit of steps for runs whose client and graph set none. */
  recursionLimit: number;
  connectionsOf: (access: TenantAccess) => Connections;
  storeOf: (access: TenantAccess) => ItemStore;
  tracer?: RunTracer;
}

/** Keys of `configurable` that name a checkpoint; clients that send back what the API shows send null for absent ones. */
interface NamedCheckpoint {
  checkpoint_id?: string | null;
  checkpoint_ns?: string | null;
  checkpoint_map?: Record<string, string> | null;
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
    storesSteps: kwargs.durability !== 'exit',
    handBack: { isWanted: isHandingBack, untilRead: () => progress.untilRead() },
    graphFile: context.graphs.source(request.graphId)?.file,
  });
  const store = new RunStore(context.storeOf(request), request.tenantId as TenantId, fence);
  const config = runConfig(context, request, saver, store, signal);
  let failure: GraphOutcome | undefined;
  let graph: AnyGraph | undefined;
  let untracked: UntrackedOutput | undefined;
  try {
    const use: GraphUse = { accessContext: 'threads.create_run', config: factoryConfig(config, saver, store) };
    // The function that makes the graph is not given the signal, and may wait for ever.
    graph = await unlessAborted(context.graphs.get(request.graphId, use), signal);
    config.recursionLimit ??= graph.config?.recursionLimit ?? context.recursionLimit;
    if (beginsWithItsInput(graph)) saver.deferInput();
    const newest =
      request.attempt > 1 ? await saver.getTuple({ configurable: { thread_id: request.threadId } }) : undefined;
    const resuming = newest !== undefined && isOf(request, newest);
    if (resuming) startFromNewest(config);
    config.configurable!.unknown_outcome_tasks = [];
    const start = startOf(config) ?? newest?.checkpoint.id;
    const mayHaveBegun = resuming || (beginsWithWaitingNodes(kwargs) && start === newest?.checkpoint.id);
    if (newest && mayHaveBegun && !request.handedBack) {
      const snapshot: StateSnapshot = await graph.getState(stateConfig(config, request.threadId));
      const unknown = unfinishedTasks(snapshot, newest, saver.ended);
      if (unknown.length > 0 && request.onUnknown === 'interrupt') {
        return stopBeforeUnknown(request, snapshot, saver.ended, unknown);
      }
      config.configurable!.unknown_outcome_tasks = unknown.map(({ id }) => id);
    }
    if (resuming) yield* await findMissingEvents(graph, config, request);
    const input = resuming ? null : await runInput(context.graphs, graph, config, saver, request);
    if (input === null || kwargs.command) await refuseMissingNodes(graph, saver, request, startOf(config));
    const { file } = context.graphs.source(request.graphId)!;
    untracked = UntrackedOutput.of(graph);
    const control = { onNode, progress, written: () => saver.written(), left: saver.left, untracked };
    const events = streamRun(graph, input, config, { kwargs, file }, control);
    yield* request.attempt > 1 ? withoutEmitted(events, request.emitted) : events;
    if (saver.left.handedBack) throw saver.left.handedBack;
  } catch (error) {
    if (isInfrastructure(error)) throw error;
    // Code of the user may have made another error of that of a nested graph.
    const handedBack = handedBackBy(error) ?? (signal.aborted ? undefined : saver.left.handedBack);
    if (handedBack) return { status: 'handed-back', inDoubt: handedBack.inDoubt };
    failure = signal.aborted ? { status: 'aborted' } : { status: 'error', error: describeError(error) };
  }
  if (!graph) return failure!;
  try {
    const snapshot: StateSnapshot = await graph.getState({
      configurable: { thread_id: request.threadId, [CHECKPOINTER]: saver },
    });
    const values: unknown = untracked ? untracked.withOutput(snapshot.values) : snapshot.values;
    const state = toFinalState({ ...snapshot, values }, saver.ended);
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
    ...taskLimit(kwargs.config?.max_concurrency),
    ...(kwargs.config?.run_name && { runName: kwargs.config.run_name }),
    metadata: { ...request.metadata, ...withheld(notForTraces(request)) },
    configurable: {
      ...kwargs.config?.configurable,
      ...request.headers,
      ...kwargs.checkpoint,
      ...authConfig(kwargs.auth_user),
      ...defaultUserId(kwargs),
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

/** The limit of tasks at once, unless it is of a config that was stored unchecked, or the library would lose tasks by it. */
function taskLimit(limit: unknown): { maxConcurrency?: number } {
  const isLimit = Number.isInteger(limit) && (limit as number) > 0;
  return isLimit && canLimitTasks() ? { maxConcurrency: limit as number } : {};
}

/** Arguments for a function that makes the graph of this run. */
function factoryConfig(config: StreamConfig, checkpointer: RunCheckpointSaver, store: RunStore): FactoryConfig {
  const { [CHECKPOINTER]: _, ...configurable } = config.configurable!;
  const { tags, recursionLimit, maxConcurrency, runName, metadata = {}, context = {} } = config;
  return {
    ...(tags && { tags }),
    ...(recursionLimit && { recursion_limit: recursionLimit }),
    ...(maxConcurrency && { max_concurrency: maxConcurrency }),
    ...(runName && { run_name: runName }),
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
  return { ...secrets, ...headers, ...authConfig(kwargs.auth_user), ...defaultUserId(kwargs) };
}

/** The user's identity by the name that many graphs read; a client may give another value, so that it proves nothing. */
function defaultUserId({ auth_user: user, config }: ExecuteRequest['kwargs']): Record<string, unknown> {
  return user && config?.configurable?.user_id == null ? { user_id: user.identity } : {};
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

/** Whether a checkpoint is of this run: then the input is in the state already. */
function isOf(request: ExecuteRequest, { metadata }: CheckpointTuple): boolean {
  return (metadata as { run_id?: string } | undefined)?.run_id === request.runId;
}

/**
 * The checkpoint of the graph itself that the run is to start from, as the library finds it; undefined for the newest. A run
 * that names one of a nested graph names that of the graph itself in the map.
 */
function startOf({ configurable }: StreamConfig): string | undefined {
  const { checkpoint_id, checkpoint_ns, checkpoint_map } = configurable as NamedCheckpoint;
  return (checkpoint_ns ? undefined : checkpoint_id) ?? checkpoint_map?.[''] ?? undefined;
}

/** Lets the run start from the newest checkpoint, which is its own: the one that it names is from before its input. */
function startFromNewest({ configurable }: StreamConfig): void {
  for (const name of ['checkpoint_id', 'checkpoint_ns', 'checkpoint_map']) delete configurable![name];
}

function stateConfig({ configurable }: StreamConfig, threadId: string) {
  const saver: unknown = configurable?.[CHECKPOINTER];
  return { configurable: { thread_id: threadId, [CHECKPOINTER]: saver } };
}

async function runInput(
  graphs: GraphLoader,
  graph: AnyGraph,
  config: StreamConfig,
  saver: RunCheckpointSaver,
  request: ExecuteRequest,
): Promise<unknown> {
  const { kwargs, graphId } = request;
  const { input, command } = kwargs;
  if (!command) return input ?? null;
  if (kwargs.strict_resume) await checkStrictResume(graphs.source(graphId)!.file);
  const resume = await resumeValue(graph, config, saver, request);
  const { update, goto } = command;
  // A command without content is refused by the library, while a run without input resumes.
  if (command.resume !== undefined && (resume ?? update ?? goto) == null) return null;
  return toCommand({ ...command, resume }, graph, graphs.source(graphId)!.file);
}

async function resumeValue(
  graph: AnyGraph,
  config: StreamConfig,
  saver: RunCheckpointSaver,
  { kwargs, threadId, runId }: ExecuteRequest,
): Promise<unknown> {
  const resume = kwargs.command?.resume;
  if (resume === undefined || Boolean(resume)) return resume;
  const { configurable } = stateConfig(config, threadId);
  const start = startOf(config);
  const snapshot: StateSnapshot = await graph.getState({
    configurable: { ...configurable, ...(start && { checkpoint_id: start }) },
  });
  return addressed(resume, { snapshot, saver, runId });
}

function describeError(error: unknown): RunError {
  const { name, message } = describeThrown(error);
  return { error: name, message, ...refusalOf(name, error) };
}

function handedBackBy(error: unknown): HandedBack | undefined {
  return [...causesOf(error)].find((cause) => cause instanceof HandedBack);
}
