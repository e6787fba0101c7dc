/**
 * The entry point of a graph process: user code runs here and nowhere else. A node that blocks its event loop, takes all memory
 * or ends the process only affects the runs of this process, and it can only read the environment and memory of this process.
 */
import { Pool } from 'pg';
import { keepCompiledCode } from '../../config/compiled-code';
import { returnUnusedMemory } from '../../config/unused-memory';
import { embeddingLanguage } from '../../config/store-settings';
import { canLimitTasks } from '../../patches/langgraph/one-at-once';
import { closeSerializer } from '../../patches/langgraph-checkpoint/closed-serializers';
import { connectStoreDirectly } from '../../patches/langgraph-checkpoint/direct-store';
import { type EncryptionContext, inEncryptionContext, useCipher } from '../../database/at-rest';
import { fastByteaArrays } from '../../database/bytea-arrays';
import { EncryptingClient } from '../../database/encrypting-client';
import { cutSilentConnections, KEEP_ALIVE } from '../../database/silent-connections';
import { ItemStore } from '../../item-store/item-store';
import { StoreRepository } from '../../item-store/store.repository';
import { CheckpointSerializer } from './checkpoint-serializer';
import { EmbeddingFunction } from './embedding-function';
import { GraphCallHandler } from './graph-calls';
import { GraphLoader } from './graph-loader';
import { MessageTooLarge } from './message-channel';
import { ParentCipher } from './cipher-questions';
import { connectToParent, type ParentChannel } from './parent-channel';
import { ParentEmbeddings, ParentRequests } from './parent-requests';
import { patchSources } from './patched-sources';
import { watchCheckpointLibraries } from './project-libraries';
import type { ExecuteRequest, FromProcess, GraphOutcome, ProcessData, RunEventMessage, ToProcess } from './protocol';
import { runGraph, type RunContext } from './run-graph';
import { RunStore } from './run-store';
import { RunTracer } from './run-tracer';
import { registerSdkClient } from './sdk-client';
import { registerSdkLogger } from './sdk-logger';
import { SOURCE_PATCHES } from './source-patches';
import { type Connections, type TenantAccess, TenantConnections } from './tenant-connections';
import { describeThrown } from './thrown-values';
import { TypeSchemasCache } from './type-schemas-cache';
import { userCodeScope, type UserCodeScope } from './user-code-scope';

const PULSE_MS = 100;
/** Pulses of a busy process in the time of one of an idle process, whose pulses are most of what it costs. */
const PULSES_OF_IDLE = 5;
const MIB = 1024 * 1024;
/** Events that may be in flight to the log before the run waits: a slow database slows the run, not the memory. */
const WINDOW = 2_000;
/** Characters of events in one message, which the reader parses as a whole. */
const BATCH_CHARACTERS = 256 * 1024;

interface Execution {
  request: ExecuteRequest;
  abort: AbortController;
  isHandingBack: boolean;
  unacknowledged: number;
  resume?: () => void;
}

type Channel = Pick<ParentChannel<ToProcess, FromProcess>, 'onMessage' | 'together'> & {
  send: (message: FromProcess) => void;
};

const executions = new Map<number, Execution>();

/** Senders with events of this turn of the event loop. */
const unsent = new Set<EventSender>();

/** Sends the events of all runs in one write, which costs as much as those of one. */
function sendAll({ together }: Channel): void {
  const senders = [...unsent];
  unsent.clear();
  together(() => {
    for (const sender of senders) sender.flush();
  });
}

/** Collects the events of a run in one turn of the event loop into one message. */
class EventSender {
  private batch: RunEventMessage[] = [];
  private characters = 0;

  constructor(
    private readonly channel: Channel,
    private readonly id: number,
    private readonly execution: Execution,
  ) {}

  /** @throws {MessageTooLarge} */
  push(event: RunEventMessage): void {
    const { length } = event.data;
    if (this.characters + length > BATCH_CHARACTERS) this.flush();
    if (unsent.size === 0) setImmediate(() => sendAll(this.channel));
    unsent.add(this);
    this.batch.push(event);
    this.characters += length;
    this.execution.unacknowledged += 1;
    if (length > BATCH_CHARACTERS) this.flush();
  }

  get isFull(): boolean {
    return this.execution.unacknowledged >= WINDOW;
  }

  /** Resolves when the log has caught up. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      this.execution.resume = resolve;
    });
  }

  /** Sends what has been collected and the node that begins in one write. */
  nodeBegan(node: string): void {
    this.channel.together(() => {
      this.flush();
      this.channel.send({ type: 'node', id: this.id, node });
    });
  }

  flush(): void {
    if (this.batch.length === 0) return;
    const events = this.batch;
    this.batch = [];
    this.characters = 0;
    this.channel.send({ type: 'events', id: this.id, events });
  }
}

/** Registers an execution, which begins when the pool grants it: by then it may have gone elsewhere. */
function consider({ send }: Channel, id: number, request: ExecuteRequest): void {
  executions.set(id, { request, abort: new AbortController(), isHandingBack: false, unacknowledged: 0 });
  send({ type: 'accept', id });
}

/** An outcome that can't be sent for its content is an error of the run: another attempt would have the same content. */
function sendOutcome({ send }: Channel, id: number, outcome: GraphOutcome): void {
  try {
    send({ type: 'outcome', id, outcome });
  } catch (error) {
    const { name, message } = describeThrown(error);
    send({ type: 'outcome', id, outcome: { status: 'error', error: { error: name, message } } });
  }
}

async function execute(context: RunContext, channel: Channel, id: number, execution: Execution): Promise<void> {
  const { send } = channel;
  const sender = new EventSender(channel, id, execution);
  const events = runGraph(context, execution.request, {
    signal: execution.abort.signal,
    isHandingBack: () => execution.isHandingBack,
    onNode: (node) => sender.nodeBegan(node),
  });
  try {
    let step = await events.next();
    while (!step.done) {
      sender.push(step.value);
      if (sender.isFull && !execution.abort.signal.aborted) await sender.room();
      step = await events.next();
    }
    sender.flush();
    sendOutcome(channel, id, step.value);
  } catch (error) {
    if (error instanceof MessageTooLarge) {
      const outcome: GraphOutcome = { status: 'error', error: { error: error.name, message: error.message } };
      // Another attempt would produce the same value.
      execution.abort.abort(error);
      await events.return(outcome).catch(() => undefined);
      send({ type: 'outcome', id, outcome });
    } else {
      sender.flush();
      send({ type: 'broken', id, message: describeThrown(error).message });
    }
  } finally {
    executions.delete(id);
  }
}

function acknowledge(id: number, count: number): void {
  const execution = executions.get(id);
  if (!execution) return;
  execution.unacknowledged -= count;
  if (execution.unacknowledged < WINDOW) execution.resume?.();
}

function abort(id: number, reason: string): void {
  const execution = executions.get(id);
  execution?.abort.abort(new Error(reason));
  // It may be waiting for events to be acknowledged that are refused.
  execution?.resume?.();
}

function handBack(id: number): void {
  const execution = executions.get(id);
  if (execution) execution.isHandingBack = true;
}

/** The execution or call whose code is running. */
function scopeOf({ runId, threadId, graphId, assistantId, tenantId, callToken }: ExecuteRequest): UserCodeScope {
  return {
    fields: { run_id: runId, thread_id: threadId, graph_id: graphId, assistant_id: assistantId },
    ...(callToken !== undefined && { credentials: { 'x-api-key': callToken, 'x-tenant-id': tenantId } }),
  };
}

const contextOf = (args: object): EncryptionContext | undefined =>
  'encryptionContext' in args ? (args.encryptionContext as EncryptionContext) : undefined;

function begin(context: RunContext, channel: Channel, id: number): void {
  const execution = executions.get(id);
  if (!execution) return;
  const { kwargs } = execution.request;
  inEncryptionContext(kwargs.encryption_context, () =>
    userCodeScope.run(scopeOf(execution.request), () => {
      void execute(context, channel, id, execution);
    }),
  );
}

/** Time since the start, and processor time of the main thread, both in milliseconds. */
function mainThreadTimes(): { ms: number; busyMs: number } {
  const { user, system } = process.threadCpuUsage();
  return { ms: performance.now(), busyMs: (user + system) / 1_000 };
}

async function main(data: ProcessData, parent: ParentChannel<ToProcess, FromProcess>): Promise<void> {
  const send = (message: FromProcess): void => parent.send(message, data.messageLimitBytes);
  const channel: Channel = { ...parent, send };
  // An unhandled rejection in user code must not end all runs of the process.
  const stray = (error: unknown): void => send({ type: 'stray', message: describeThrown(error).stack });
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);
  registerSdkLogger(send);
  const requests = new ParentRequests(send);
  useCipher(data.isEncrypted === true ? new ParentCipher(requests) : undefined);
  if (data.apiUrl !== undefined) registerSdkClient(data.apiUrl, (input, init) => fetch(input, init));
  const login = { connectionString: data.databaseUrl, application_name: 'gantry-graphs', ...KEEP_ALIVE };
  const connections = new Pool({
    ...login,
    max: data.databasePool,
    Client: EncryptingClient,
    types: fastByteaArrays,
  });
  cutSilentConnections(connections, login);
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  connections.on('error', () => undefined);
  patchSources(SOURCE_PATCHES);
  const files = data.graphs.map(({ file }) => file);
  watchCheckpointLibraries([__filename, ...files], (file, exports) => {
    closeSerializer(exports, () => new CheckpointSerializer(file));
    connectStoreDirectly(exports, RunStore);
  });
  const graphs = new GraphLoader(data.graphs);
  const loaded = await graphs.load();
  if (!canLimitTasks()) {
    const message = 'A version of @langchain/langgraph that Gantry does not know: max_concurrency is ignored';
    send({ type: 'log', level: 'warn', message, fields: {} });
  }
  const { index } = data.store;
  const isElsewhere = embeddingLanguage(data.store) === 'python';
  const embeddings = index && !isElsewhere ? await EmbeddingFunction.load(index) : undefined;
  const elsewhere = new ParentEmbeddings(requests);
  const connectionsOf = (access: TenantAccess): Connections => new TenantConnections(connections, access);
  const storeOf = (access: TenantAccess): ItemStore =>
    new ItemStore(new StoreRepository(connectionsOf(access)), data.store, (tenantId, kind, texts) =>
      embeddings ? embeddings.embed(kind, texts) : elsewhere.embed(tenantId, kind, texts),
    );
  const context: RunContext = {
    graphs,
    recursionLimit: data.recursionLimit,
    connectionsOf,
    storeOf,
    ...(data.tracing && { tracer: new RunTracer(data.tracing) }),
  };
  const calls = new GraphCallHandler(
    graphs,
    connectionsOf,
    storeOf,
    embeddings,
    new TypeSchemasCache(data.configPath, files, data.cacheFolder),
    (message, fields) => send({ type: 'log', level: 'warn', message, fields }),
  );
  let callsInFlight = 0;
  channel.onMessage((message) => {
    switch (message.type) {
      case 'offer':
        return consider(channel, message.id, message.request);
      case 'begin':
        return begin(context, channel, message.id);
      case 'withdraw':
        return void executions.delete(message.id);
      case 'abort':
        return abort(message.id, message.reason);
      case 'hand-back':
        return handBack(message.id);
      case 'ack':
        return acknowledge(message.id, message.count);
      case 'cipher-result':
      case 'store-result':
        return requests.answered(message);
      case 'call':
        callsInFlight += 1;
        return void inEncryptionContext(contextOf(message.args), () => calls.handle(message.name, message.args))
          .finally(() => (callsInFlight -= 1))
          .then((value) => send({ type: 'result', id: message.id, value }))
          .catch((error: unknown) => {
            const { name, message: reason } = describeThrown(error);
            send({ type: 'refused', id: message.id, message: reason, errorName: name });
          });
    }
  });
  let pulses = 0;
  let last = mainThreadTimes();
  setInterval(() => {
    pulses += 1;
    const isIdle = executions.size === 0 && callsInFlight === 0;
    if (isIdle && pulses % PULSES_OF_IDLE !== 0) return;
    const now = mainThreadTimes();
    // The utilization of the event loop would include the time for which the process waits for a processor.
    const busyShare = (now.busyMs - last.busyMs) / (now.ms - last.ms);
    last = now;
    send({ type: 'pulse', residentMb: process.memoryUsage.rss() / MIB, busyShare });
  }, PULSE_MS);
  send({ type: 'ready', ...loaded });
  keepCompiledCode();
  returnUnusedMemory();
  if (data.preparesSchemas) void calls.prepareSchemas();
}

void connectToParent<ProcessData, ToProcess, FromProcess>().then(([data, channel]) =>
  main(data, channel).catch((error: unknown) => {
    channel.send({ type: 'unusable', message: describeThrown(error).message });
  }),
);
