/** Messages between a process of Gantry and its graph processes. They are plain data; values are JSON text. */

import type { EncryptionContext, SealOperation } from '../../database/at-rest';
import type { AuthUser } from '../../database/request-scope';
import type { TextKind } from '../../item-store/item-store';
import type { StoreSettings } from '../../config/store-settings';
import type { EmittedEvents } from '../../streams/run-event';
import type { GraphSource, OnUnknown } from '../../config/langgraph-json';
import type { UserLogLine } from './user-log';
import type { StoreQuestion } from './store-operations';

/** The first message to a graph process. */
export interface ProcessData {
  /** Path of langgraph.json. */
  configPath: string;
  graphs: GraphSource[];
  /** Limit of steps for runs whose client and graph set none. */
  recursionLimit: number;
  store: StoreSettings;
  databaseUrl: string;
  /** Bytes of the longest message that the process may send. */
  messageLimitBytes: number;
  /** URL of the API for clients in graph code. */
  apiUrl?: string;
  /** Postgres connections of the process, for checkpoints and the store. */
  databasePool: number;
  tracing?: TracingSettings;
  /** Folder that caches results for later processes. */
  cacheFolder?: string;
  /** Whether to read the types of graphs before a request needs their schemas. */
  preparesSchemas?: boolean;
  /** Whether what is stored is encrypted: the process asks its parent for it. */
  isEncrypted?: boolean;
}

export interface TracingSettings {
  apiUrl: string;
}

/** Additional project for a run's trace, and the example of a dataset that the run belongs to. */
export interface TraceRequest {
  project_name?: string;
  example_id?: string;
}

/** The arguments of a run, as stored. */
export interface RunKwargs {
  input?: unknown;
  command?: CommandInput;
  /** Whether an answer to an interrupt that isn't open fails the run. */
  strict_resume?: true;
  config?: {
    tags?: string[];
    recursion_limit?: number;
    max_concurrency?: number;
    run_name?: string;
    configurable?: Record<string, unknown>;
  };
  context?: Record<string, unknown>;
  stream_mode: StreamMode[];
  stream_subgraphs: boolean;
  stream_resumable: boolean;
  /** Started by the event protocol: tokens are emitted as its content blocks, and checkpoints in short. */
  event_protocol?: true;
  interrupt_before?: '*' | string[];
  interrupt_after?: '*' | string[];
  checkpoint?: CheckpointReference;
  durability: Durability;
  feedback_keys?: string[];
  langsmith_tracer?: TraceRequest;
  /** The tracing project that the run's trace goes to, where runs were traced when it was created. */
  session_name?: string;
  webhook?: string;
  on_completion?: 'delete' | 'keep';
  temporary: boolean;
  /** Request headers for the graph's `configurable`, sealed. */
  sealed_headers?: string;
  /** The context by which the run's values are encrypted (custom encryption). */
  encryption_context?: EncryptionContext;
  /** The user of the custom auth who created the run, only for the graph's config, never for the API or a webhook. */
  auth_user?: AuthUser;
}

export const STREAM_MODES = [
  'values',
  'messages',
  'messages-tuple',
  'tasks',
  'checkpoints',
  'updates',
  'events',
  'debug',
  'custom',
  'tools',
] as const;
export type StreamMode = (typeof STREAM_MODES)[number];
/** Name in the log of the event protocol's message events: not `messages`, which have another shape. */
export const CONTENT_BLOCKS = 'content-blocks';
export type Durability = 'sync' | 'async' | 'exit';

export interface CommandInput {
  update?: unknown;
  resume?: unknown;
  goto?: unknown;
}

export interface CheckpointReference {
  thread_id?: string;
  checkpoint_ns?: string;
  checkpoint_id?: string;
  checkpoint_map?: Record<string, unknown>;
}

export interface ExecuteRequest {
  runId: string;
  threadId: string;
  tenantId: string;
  /** Token that proves the tenant to the database while the attempt owns the run; added by the pool. */
  tenantToken?: string;
  assistantId: string;
  graphId: string;
  attempt: number;
  kwargs: RunKwargs;
  metadata: Record<string, unknown>;
  /** Whether the thread has no checkpoint, so that none is looked for. */
  threadIsNew: boolean;
  /** Whether the earlier attempt handed the run back after a checkpoint, so that no node of it is in doubt. */
  handedBack: boolean;
  /** Events that earlier attempts of the run have emitted, so that they are not repeated. */
  emitted: EmittedEvents;
  /** Uploads the run's trace; undefined when runs aren't traced. */
  traceKey?: string;
  /** Headers of the request that created the run; they win over the body's `configurable`. */
  headers: Record<string, string>;
  /** Key with which the graph calls the API on behalf of the run's owner. */
  callToken?: string;
  /** Action for a node that an earlier attempt began and whose outcome is unknown. */
  onUnknown: OnUnknown;
}

export interface RunEventMessage {
  event: string;
  /** JSON text. */
  data: string;
  /** Id of the task that ended, or of the checkpoint, whose commit the event reports. */
  fact?: string;
}

export interface RunError {
  error: string;
  message: string;
  /** Reason for a refused strict resume: the interrupts that it named, and the open ones. */
  reason?: string;
  interrupt_ids?: string[];
  pending_ids?: string[];
}

/** How the graph ended, and the thread's state then. */
export interface GraphOutcome {
  status: 'success' | 'error' | 'aborted' | 'handed-back';
  /** Whether a node was still running when the run was handed back or aborted; its effect is in doubt then. */
  inDoubt?: boolean;
  error?: RunError;
  state?: FinalState;
}

export interface FinalState {
  /** JSON text of the channel values; at the end of a run with output that no checkpoint contains, as an agent's structuredResponse. */
  values: string;
  /** Names of the values that are the graph's output; absent where all of them are. */
  output?: string[];
  next: string[];
  /** JSON text: task id → its interrupts. */
  interrupts: string;
}

/** A graph, and the arguments for a function that makes it, as for a run of the assistant or on the thread. */
export interface GraphTarget {
  graphId: string;
  tenantId: string;
  /** Token that proves the tenant to the database for some minutes; added by the pool. */
  tenantToken?: string;
  config: NonNullable<RunKwargs['config']>;
  context?: Record<string, unknown>;
  /** Context by which an edit is encrypted; added on the way to the process. */
  encryptionContext?: EncryptionContext;
  metadata?: Record<string, unknown>;
}

/** Tenant of the state, since thread ids are only unique per tenant. */
export interface StateOwner extends GraphTarget {
  threadId: string;
}

export interface StateQuery extends StateOwner {
  checkpoint?: CheckpointReference;
  subgraphs?: boolean;
  /** Fields of a state, and `values.<key>`; all when absent. */
  select?: string[];
}

/** Writes of a node in a superstep. */
export interface SuperstepUpdate {
  asNode: string;
  values?: unknown;
  command?: CommandInput;
}

/** Reads and edits that need the graph's code but run none of its nodes. Results are JSON text. */
export interface GraphCalls {
  getState: StateQuery;
  /** State for the thread's row, as in FinalState. */
  getFinalState: StateOwner;
  getHistory: StateQuery & { limit: number; before?: CheckpointReference; filter?: Record<string, unknown> };
  updateState: StateQuery & { values: unknown; asNode?: string };
  replaySupersteps: StateOwner & { supersteps: SuperstepUpdate[][] };
  getSchemas: GraphTarget;
  /** The names of the fields of its state, which a graph without declared schemas has too. */
  getFields: GraphTarget;
  getSubgraphs: GraphTarget & { namespace?: string; recurse: boolean };
  drawGraph: GraphTarget & { xray: boolean | number };
  /** A vector for each text, by the deployment's embedding function. */
  embed: { tenantId: string; tenantToken?: string; kind: TextKind; texts: string[] };
}
export type GraphCall = keyof GraphCalls;

/**
 * An execution is offered, accepted and only then begun. One that isn't accepted, since the event loop is blocked, is withdrawn:
 * the process may read the offer later, but it isn't granted any more.
 */
export type ToProcess =
  | { type: 'offer'; id: number; request: ExecuteRequest }
  | { type: 'begin'; id: number }
  | { type: 'withdraw'; id: number }
  | { type: 'abort'; id: number; reason: string }
  /** Stop after the next checkpoint: another worker resumes from there. */
  | { type: 'hand-back'; id: number }
  | { type: 'ack'; id: number; count: number }
  | { type: 'call'; id: number; name: GraphCall; args: GraphCalls[GraphCall] }
  /** The answer to a `store` message. */
  | ({ type: 'store-result'; request: number } & ({ value: unknown } | { error: string }))
  /** The answer to a `cipher` message. */
  | ({ type: 'cipher-result'; request: number } & ({ values: unknown[] } | { error: string }));

/** Values that a graph process has encrypted or decrypted by its parent, which has the handlers. */
export interface CipherQuestion {
  type: 'cipher';
  /** Repeated in the answer. */
  request: number;
  /** One of the two. */
  seal?: SealOperation[];
  open?: unknown[];
}

/** Findings of a process that has loaded the graphs. */
export interface LoadedGraphs {
  /** Why a graph can't be served, by its id. */
  problems: Record<string, string>;
  /** Ids of the graphs that a function makes for each use. */
  factories: string[];
}

export type FromProcess =
  | ({ type: 'ready' } & LoadedGraphs)
  | { type: 'unusable'; message: string }
  /**
   * `residentMb`: memory of the process, in MiB; `busyShare`: processor time of its main thread since the last pulse, as a
   * share of the time, from 0 to 1.
   */
  | { type: 'pulse'; residentMb: number; busyShare: number }
  | { type: 'accept'; id: number }
  /** User code threw outside of any run. */
  | { type: 'stray'; message: string }
  | UserLogLine
  | { type: 'events'; id: number; events: RunEventMessage[] }
  /** The node that the run is at, for those who watch it. */
  | { type: 'node'; id: number; node: string }
  | { type: 'outcome'; id: number; outcome: GraphOutcome }
  /** The graph didn't fail: the run may be retried. */
  | { type: 'broken'; id: number; message: string }
  /** A question of a process that can't reach the store itself. */
  | StoreQuestion
  | CipherQuestion
  | { type: 'result'; id: number; value: string }
  | { type: 'refused'; id: number; message: string; errorName: string };

type Shape = Record<string, 'number' | 'string' | 'object' | 'events' | 'names'>;

/** The fields of each message of a graph process. */
const SHAPES: Record<FromProcess['type'], Shape> = {
  ready: { problems: 'object', factories: 'names' },
  unusable: { message: 'string' },
  pulse: { residentMb: 'number', busyShare: 'number' },
  accept: { id: 'number' },
  stray: { message: 'string' },
  log: { level: 'string', message: 'string', fields: 'object' },
  events: { id: 'number', events: 'events' },
  node: { id: 'number', node: 'string' },
  outcome: { id: 'number', outcome: 'object' },
  broken: { id: 'number', message: 'string' },
  store: { request: 'number', operation: 'object' },
  cipher: { request: 'number' },
  result: { id: 'number', value: 'string' },
  refused: { id: 'number', message: 'string', errorName: 'string' },
};

/** Messages that carry states. All others are short. */
const LARGE = new Set(['events', 'outcome', 'result', 'store', 'cipher']);
const MAX_SHORT_BYTES = 16 * 1024 * 1024;

function isEvent(value: unknown): value is RunEventMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { event, data, fact } = value as Record<string, unknown>;
  return typeof event === 'string' && typeof data === 'string' && ['string', 'undefined'].includes(typeof fact);
}

/** Whether a message has a valid shape and size, since user code may find a way to the channel of its process. */
export function isFromProcess(message: unknown, bytes: number): message is FromProcess {
  if (typeof message !== 'object' || message === null || !('type' in message)) return false;
  const { type } = message;
  if (typeof type !== 'string' || !Object.hasOwn(SHAPES, type)) return false;
  if (bytes > MAX_SHORT_BYTES && !LARGE.has(type)) return false;
  return Object.entries(SHAPES[type as FromProcess['type']]).every(([field, kind]) => {
    const value: unknown = (message as Record<string, unknown>)[field];
    if (kind === 'events') return Array.isArray(value) && value.every(isEvent);
    if (kind === 'names') return Array.isArray(value) && value.every((name) => typeof name === 'string');
    return typeof value === kind && value !== null;
  });
}
