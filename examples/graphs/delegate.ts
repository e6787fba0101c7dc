import { createHash } from 'node:crypto';
import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import { type Client as Agent, ClientFactory } from '@a2a-js/sdk/client';
import { END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { getCurrentRunTree } from 'langsmith/singletons/traceable';
import { z } from 'zod';

const LONGEST_CALL_MS = 3_600_000;

const State = z.object({
  question: z.string().describe('What the agent is asked'),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('What the tool is called with'),
  answer: z.string().default(''),
  result: z.unknown(),
});

const Context = z.object({
  peer: z.url().default('http://localhost:2024').describe('Server of the agent and the tool, on this machine'),
  agent: z.string().default('agent').describe('Name of the agent, which is called by A2A'),
  tool: z.string().default('pipeline').describe('Name of the tool, which is called by MCP'),
});

type Config = LangGraphRunnableConfig<z.infer<typeof Context>>;

/** The context with its defaults. A client may choose the address: only one of this machine is accepted. */
function peerOf({ context }: Config): z.infer<typeof Context> {
  const peer = Context.parse(context ?? {});
  const { hostname } = new URL(peer.peer);
  if (hostname !== '127.0.0.1' && hostname !== 'localhost') throw new Error('peer must be on this machine');
  return peer;
}

/** Ids that the server passes to each step. */
function idsOf({ configurable }: Config): Record<'run_id' | 'thread_id' | 'checkpoint_ns', string> {
  return configurable as never;
}

/**
 * The step's identity: the same when the step starts again after a crash, another for every other step and run. The peer
 * answers a repeated request with what the first one began.
 */
function keyOf(config: Config): string {
  const { run_id, checkpoint_ns } = idsOf(config);
  return `${run_id}/${checkpoint_ns}`;
}

/** Headers of a call: it takes effect once, and the peer's trace becomes part of this run's. */
function headersOf(config: Config): Record<string, string> {
  const trace = getCurrentRunTree(true)?.toHeaders()['langsmith-trace'];
  return { 'idempotency-key': keyOf(config), ...(trace && { 'langsmith-trace': trace }) };
}

/** A repeated message has to be the same, its id included. The context is a conversation of its own for each thread. */
function messageOf(text: string, config: Config): Message {
  return {
    messageId: createHash('sha256').update(keyOf(config)).digest('hex'),
    contextId: `delegate-${idsOf(config).thread_id}`,
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** Resolves when the task has ended or asks; cancels it when the signal is aborted. */
async function runTask(agent: Agent, message: Message, config: Config): Promise<Task> {
  const request = { tenant: '', message, configuration: undefined, metadata: undefined };
  // Not aborted itself: an agent that has accepted the message must be asked to cancel, which needs the task's id.
  const events = agent.sendMessageStream(request, { serviceParameters: headersOf(config) });
  const first = (await events.next()).value?.payload;
  if (first?.$case !== 'task') throw new Error('The agent answered without a task');
  const { id } = first.value;
  const cancel = () => void agent.cancelTask({ tenant: '', id, metadata: undefined }).catch(() => undefined);
  const { signal } = config;
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    for await (const _event of events);
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
  signal?.throwIfAborted();
  return agent.getTask({ tenant: '', id });
}

async function askAgent({ question }: z.infer<typeof State>, config: Config) {
  const { peer, agent: name } = peerOf(config);
  const card = `/.well-known/agent-card.json?assistant_id=${encodeURIComponent(name)}`;
  const agent = await new ClientFactory().createFromUrl(peer, card);
  const { status, artifacts } = await runTask(agent, messageOf(question, config), config);
  if (status?.state !== TaskState.TASK_STATE_COMPLETED)
    throw new Error(`The agent's task ended as ${status ? TaskState[status.state] : 'unknown'}`);
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  return { answer: parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('') };
}

async function callTool({ arguments: args }: z.infer<typeof State>, config: Config) {
  const { peer, tool } = peerOf(config);
  const client = new Client({ name: 'delegate', version: '1' });
  const requestInit = { headers: headersOf(config) };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', peer), { requestInit }));
  // The client cancels the call when the signal is aborted.
  const result = await client.callTool(
    { name: tool, arguments: args },
    { signal: config.signal, timeout: LONGEST_CALL_MS },
  );
  await client.close();
  if (result.isError) throw new Error(`The tool failed: ${JSON.stringify(result.content)}`);
  return { result: result.structuredContent ?? result.content };
}

/**
 * Asks another agent by A2A, then calls a tool by MCP. Killed in the middle, it finds the task and the call again; cancelled, it
 * cancels them.
 */
export const graph = new StateGraph(State, Context)
  .addNode('ask_agent', askAgent)
  .addNode('call_tool', callTool)
  .addEdge(START, 'ask_agent')
  .addEdge('ask_agent', 'call_tool')
  .addEdge('call_tool', END)
  .compile({ name: 'delegate' });
