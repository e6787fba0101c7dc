import { isJsonObject, type JsonObject } from '../database/json';
import { CONTENT_BLOCKS, type RunError } from '../graphs/host/protocol';
import { END_EVENT, type RunEnd, type RunEvent } from '../streams/run-event';
import type { ProtocolEvent } from './protocol-event';

export type AgentStatus = 'started' | 'running' | 'completed' | 'failed' | 'interrupted';

/** A graph and the graphs nested in it, as `agent.getTree` shows them. */
export interface AgentTree {
  namespace: string[];
  status: AgentStatus;
  graph_name: string;
  children?: AgentTree[];
}

const keyOf = (namespace: string[]): string => namespace.join('|');
const nodeOf = (segment: string): string => segment.split(':', 1)[0] ?? segment;

/**
 * Translates the log of one run into events of the event protocol. They depend only on the log, so that every replica gives the
 * same events the same numbers; so a run has to be read from its beginning.
 * @see https://github.com/langchain-ai/agent-protocol for the events' shapes
 */
export class RunTranslator {
  /** Nested graphs, and nodes with tokens or tools, by namespace, in the order of their starts. */
  private readonly agents = new Map<string, AgentTree>();
  private rootStatus: AgentStatus | undefined;
  private failure: Partial<RunError> = {};
  /** Ends that are emitted after the event that follows: a node's results come before its end. */
  private ending: string[][] = [];
  private readonly asked = new Set<string>();
  /** Namespaces of graphs that have begun; others are those of nodes. */
  private readonly graphs = new Set<string>(['']);
  private readonly checkpoints = new Set<string>();
  /** Named agents that a tool call started: namespace → name, task → tool call. */
  private readonly agentNames = new Map<string, string>();
  private readonly toolCalls = new Map<string, string>();

  constructor(private readonly graphName: string) {}

  *translate({ event, data }: RunEvent): Generator<ProtocolEvent> {
    if (event === END_EVENT) {
      yield* this.end(JSON.parse(data) as RunEnd);
      return;
    }
    const [kind, ...namespace] = event.split('|');
    const translate = TRANSLATORS[kind];
    if (kind === 'metadata') yield* this.begin(JSON.parse(data) as { answered_interrupts?: string[] });
    else if (kind === 'error') this.failure = JSON.parse(data) as Partial<RunError>;
    if (!translate) return;
    if (kind === 'tasks') this.noteTask(namespace, data);
    yield* this.flushEnds();
    const isOfNode = (kind === CONTENT_BLOCKS || kind === 'tools') && !this.graphs.has(keyOf(namespace));
    const depthOfGraph = namespace.length - (isOfNode ? 1 : 0);
    for (let depth = 1; depth <= depthOfGraph; depth += 1) this.graphs.add(keyOf(namespace.slice(0, depth)));
    for (let depth = 1; depth <= namespace.length; depth += 1) yield* this.start(namespace.slice(0, depth));
    for (const event of translate(data)) {
      if (event.method === 'input.requested' && !this.isNewQuestion(event)) continue;
      // A repeated attempt begins with the checkpoint that it resumes from.
      if (event.method === 'checkpoints' && !this.isNewCheckpoint(event)) continue;
      yield { ...event, namespace, ...(isOfNode && { graph: namespace.slice(0, -1) }) };
    }
    if (kind === 'tasks') this.noteTaskEnd(namespace, data);
  }

  /** The tree of agents, as far as the log was read. */
  tree(): AgentTree {
    const root: AgentTree = { namespace: [], status: this.rootStatus ?? 'started', graph_name: this.graphName };
    const copies = new Map<string, AgentTree>([['', root]]);
    for (const [key, agent] of this.agents) {
      const copy = { ...agent };
      copies.set(key, copy);
      const parent = copies.get(keyOf(agent.namespace.slice(0, -1)))!;
      (parent.children ??= []).push(copy);
    }
    return root;
  }

  private *begin({ answered_interrupts: ids }: { answered_interrupts?: string[] }): Generator<ProtocolEvent> {
    // A repeated attempt is the same run.
    const isRepeated = this.rootStatus !== undefined;
    yield* this.root('running');
    if (ids && !isRepeated) {
      yield { method: 'input.answered', namespace: [], data: JSON.stringify({ interrupt_ids: ids }) };
    }
  }

  private *root(status: AgentStatus, more: JsonObject = {}): Generator<ProtocolEvent> {
    if (this.rootStatus === status) return;
    this.rootStatus = status;
    yield lifecycle([], { event: status, graph_name: this.graphName, ...more });
  }

  private *start(namespace: string[]): Generator<ProtocolEvent> {
    const key = keyOf(namespace);
    if (this.agents.has(key)) return;
    const segment = namespace.at(-1)!;
    const name = this.agentNames.get(key);
    const agent: AgentTree = { namespace, status: 'started', graph_name: name ?? nodeOf(segment) };
    this.agents.set(key, agent);
    const toolCall = name === undefined ? undefined : this.toolCalls.get(segment.slice(segment.indexOf(':') + 1));
    yield this.lifecycleOf(namespace, {
      event: 'started',
      graph_name: agent.graph_name,
      ...(toolCall !== undefined && { cause: { type: 'toolCall', tool_call_id: toolCall } }),
    });
  }

  private *stop(namespace: string[], status: AgentStatus): Generator<ProtocolEvent> {
    const agent = this.agents.get(keyOf(namespace));
    if (agent?.status !== 'started') return;
    agent.status = status;
    yield this.lifecycleOf(namespace, { event: status, graph_name: agent.graph_name });
  }

  private lifecycleOf(namespace: string[], data: JsonObject): ProtocolEvent {
    const isGraph = this.graphs.has(keyOf(namespace));
    return { ...lifecycle(namespace, data), ...(!isGraph && { graph: null }) };
  }

  private *flushEnds(): Generator<ProtocolEvent> {
    for (const namespace of this.ending.splice(0)) yield* this.stop(namespace, 'completed');
  }

  private *end({ status, result }: RunEnd): Generator<ProtocolEvent> {
    yield* this.flushEnds();
    const isWaiting = isJsonObject(result) && '__interrupt__' in result;
    // A question that no mode of the run has emitted.
    for (const event of isWaiting ? questions(result.__interrupt__) : []) {
      if (this.isNewQuestion(event)) yield event;
    }
    const ended = STATUS_OF[status] ?? 'interrupted';
    const shown = ended === 'completed' && isWaiting ? 'interrupted' : ended;
    for (const { namespace } of this.agents.values()) yield* this.stop(namespace, shown);
    if (shown !== 'failed') {
      yield* this.root(shown);
      return;
    }
    const said = isJsonObject(result) ? (result.__error__ as Partial<RunError> | undefined) : undefined;
    const { message = 'The run failed', error: _name, ...refusal } = said ?? this.failure;
    yield* this.root(shown, { error: message, ...refusal });
  }

  private isNewQuestion({ data }: ProtocolEvent): boolean {
    const { interrupt_id: id } = JSON.parse(data) as { interrupt_id: string };
    if (this.asked.has(id)) return false;
    this.asked.add(id);
    return true;
  }

  private isNewCheckpoint({ data }: ProtocolEvent): boolean {
    const { id } = JSON.parse(data) as { id: string };
    if (this.checkpoints.has(id)) return false;
    this.checkpoints.add(id);
    return true;
  }

  /** Tasks before its first event say which agent a nested graph is, and to which tool call of a model it belongs. */
  private noteTask(namespace: string[], json: string): void {
    const task = JSON.parse(json) as { id?: unknown; input?: unknown; metadata?: { lc_agent_name?: unknown } };
    const name = task.metadata?.lc_agent_name;
    const key = keyOf(namespace);
    if (typeof name === 'string' && name !== '' && !this.agentNames.has(key)) this.agentNames.set(key, name);
    const call = toolCallOf(task.input);
    if (typeof task.id === 'string' && call !== undefined) this.toolCalls.set(task.id, call);
  }

  private noteTaskEnd(namespace: string[], json: string): void {
    const task = JSON.parse(json) as { id?: string; name?: string; result?: unknown; error?: unknown };
    if (!('result' in task) || task.error || !task.name || task.name.startsWith('__')) return;
    this.ending.push([...namespace, `${task.name}:${task.id}`]);
  }
}

const STATUS_OF: Partial<Record<RunEnd['status'], AgentStatus>> = {
  success: 'completed',
  error: 'failed',
  timeout: 'failed',
};

/** `{ tool_call: { id } }`, or a list of calls. */
function toolCallOf(input: unknown): string | undefined {
  const calls = (isJsonObject(input) ? [input.tool_call] : Array.isArray(input) ? input : []) as unknown[];
  const call = calls.find((each) => isJsonObject(each) && typeof each.id === 'string');
  return (call as { id: string } | undefined)?.id;
}

function lifecycle(namespace: string[], data: JsonObject): ProtocolEvent {
  return { method: 'lifecycle', namespace, data: JSON.stringify(data) };
}

function questions(interrupts: unknown): ProtocolEvent[] {
  if (!Array.isArray(interrupts)) return [];
  return interrupts
    .filter(
      (interrupt): interrupt is JsonObject & { id: string } =>
        isJsonObject(interrupt) && typeof interrupt.id === 'string',
    )
    .map(({ id, value, response_schema: schema }) => ({
      method: 'input.requested',
      namespace: [],
      data: JSON.stringify({
        interrupt_id: id,
        payload: value ?? null,
        // Python's client reads it by this name.
        value: value ?? null,
        ...(schema !== undefined && { response_schema: schema }),
      }),
    }));
}

/** Translation of each kind of the log's events; others have no channel. The caller adds the namespace. */
const TRANSLATORS: Record<string, ((data: string) => ProtocolEvent[]) | undefined> = {
  values: (data) => {
    if (!data.includes('"__interrupt__"')) return [{ method: 'values', namespace: [], data }];
    const { __interrupt__: interrupts, ...values } = JSON.parse(data) as JsonObject;
    const state = { method: 'values', namespace: [], data: JSON.stringify(values) };
    return [...questions(interrupts), ...(Object.keys(values).length > 0 ? [state] : [])];
  },
  updates: (data) =>
    Object.entries(JSON.parse(data) as JsonObject).flatMap(([node, values]): ProtocolEvent[] => {
      if (node === '__interrupt__') return questions(values);
      if (node.startsWith('__')) return [];
      const update = typeof values === 'object' && values !== null ? values : { value: values };
      return [{ method: 'updates', namespace: [], node, data: JSON.stringify({ node, values: update }) }];
    }),
  [CONTENT_BLOCKS]: (json) => {
    const { node, data } = JSON.parse(json) as { node?: string; data: unknown };
    return [{ method: 'messages', namespace: [], ...(node !== undefined && { node }), data: JSON.stringify(data) }];
  },
  tools: (data) => [
    { method: 'tools', namespace: [], data: JSON.stringify(toolEvent(JSON.parse(data) as JsonObject)) },
  ],
  custom: (json) => {
    const payload: unknown = JSON.parse(json);
    const isNamed = isJsonObject(payload) && 'name' in payload;
    const name = isNamed && typeof payload.name === 'string' ? { name: payload.name } : {};
    return [{ method: 'custom', namespace: [], ...name, data: isNamed ? json : JSON.stringify({ payload }) }];
  },
  tasks: (data) => [{ method: 'tasks', namespace: [], data }],
  checkpoints: (data) => {
    const checkpoint = JSON.parse(data) as JsonObject;
    // The whole states of the stream mode of this name are another matter.
    return typeof checkpoint.id === 'string' && !('values' in checkpoint)
      ? [{ method: 'checkpoints', namespace: [], data }]
      : [];
  },
};

/** Python's library emits these events as the protocol has them; JavaScript's has names of its own. */
function toolEvent(emitted: JsonObject): JsonObject {
  const { event, toolCallId, name, input, output, data, error } = emitted;
  if (typeof event === 'string' && event.startsWith('tool-')) return emitted;
  const call = { tool_call_id: typeof toolCallId === 'string' ? toolCallId : '' };
  switch (event) {
    case 'on_tool_start':
      return { event: 'tool-started', ...call, tool_name: name ?? 'unknown', input };
    case 'on_tool_event':
      return {
        event: 'tool-output-delta',
        ...call,
        delta: typeof data === 'string' ? data : JSON.stringify(data ?? ''),
      };
    case 'on_tool_end':
      return { event: 'tool-finished', ...call, output: output ?? null };
    default: {
      const message = isJsonObject(error) ? error.message : error;
      return { event: 'tool-error', ...call, message: typeof message === 'string' ? message : 'unknown error' };
    }
  }
}
