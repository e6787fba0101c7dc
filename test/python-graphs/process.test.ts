import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonRuntime } from '../../src/graphs/host/graph-runtime';
import { MessageChannel } from '../../src/graphs/host/message-channel';
import type { ExecuteRequest, FromProcess, ProcessData, ToProcess } from '../../src/graphs/host/protocol';
import type { UserCodeProcess } from '../../src/graphs/host/user-code-process';
import { freePort } from '../support/ports';
import { pythonForGraphs, runPython } from '../support/python';
import { waitFor } from '../support/wait-for';

const GRAPHS = String.raw`
import asyncio
from contextlib import asynccontextmanager
from typing import Any, TypedDict

import psycopg
from gantry_graphs.left import HandedBack
from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph


class State(TypedDict, total=False):
    text: str


async def wait(_: State) -> State:
    await asyncio.sleep(600)
    return {}


def emit(_: State) -> State:
    get_stream_writer()("x" * 2_000_000)
    return {}


def graph_of(node: Any) -> Any:
    return StateGraph(State).add_node("node", node).add_edge(START, "node").compile()


waiting = graph_of(wait)


def losing_its_connection(node: Any) -> Any:
    @asynccontextmanager
    async def make(_: Any) -> Any:
        try:
            yield graph_of(node)
        finally:
            raise psycopg.OperationalError("the graph's own connection is lost")

    return make


emitting = losing_its_connection(emit)


def leave(_: State) -> State:
    raise HandedBack(in_doubt=True)


leaving = losing_its_connection(leave)


class Panic(BaseException):
    pass


def panicking(_: Any) -> Any:
    raise Panic("no Exception")


def lost(_: Any) -> Any:
    raise psycopg.OperationalError("half of a pair: \ud800")
`;
const NAMES = ['waiting', 'emitting', 'leaving', 'panicking', 'lost'];

type About<T extends FromProcess['type']> = Extract<FromProcess, { type: T }>;

/** A process for graphs in Python, by its messages: none of its runs may end without an outcome, or end the process. */
describe('a graph process in Python', () => {
  let folder: string;
  let started: UserCodeProcess;
  let channel: MessageChannel;
  let received: FromProcess[];
  let hasEnded: boolean;
  let lastId = 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-python-process-'));
    const file = join(folder, 'graphs.py');
    writeFileSync(file, GRAPHS);
    const runtime = pythonRuntime({ interpreter: pythonForGraphs(), importFolders: [] });
    started = runtime.start({ env: { PATH: process.env.PATH! } });
    [received, hasEnded] = [[], false];
    started.child.once('exit', () => (hasEnded = true));
    channel = new MessageChannel(
      started.messages,
      (message) => received.push(message as FromProcess),
      () => undefined,
      { codec: runtime.codec },
    );
    const data: ProcessData = {
      configPath: join(folder, 'langgraph.json'),
      graphs: NAMES.map((graphId) => ({ graphId, file, exportName: graphId })) as ProcessData['graphs'],
      recursionLimit: 25,
      store: {} as ProcessData['store'],
      // No run of this file gets as far as a checkpoint.
      databaseUrl: `postgres://127.0.0.1:${await freePort()}/none`,
      databasePool: 1,
      messageLimitBytes: 2 ** 20,
    };
    channel.send(data);
    expect(await answer('ready')).toMatchObject({ problems: {} });
  });

  afterAll(() => {
    started?.child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  const send = (message: ToProcess): void => channel.send(message);

  const answer = <T extends FromProcess['type']>(type: T, id?: number): Promise<About<T>> =>
    waitFor(`the message "${type}"`, () => {
      if (hasEnded) throw new Error('The process has ended');
      return received.find(
        (message): message is About<T> =>
          message.type === type && (id === undefined || ('id' in message && message.id === id)),
      );
    });

  /** Offers a run; resolves to its id when the process has accepted it. */
  async function offer(graphId: string, given: Partial<ExecuteRequest> = {}): Promise<number> {
    const id = (lastId += 1);
    const request: Partial<ExecuteRequest> = {
      runId: `run-${id}`,
      threadId: `thread-${id}`,
      tenantId: 'tenant',
      assistantId: 'assistant',
      graphId,
      attempt: 1,
      threadIsNew: true,
      metadata: {},
      headers: {},
      kwargs: {
        input: { text: 'hello' },
        stream_mode: ['custom'],
        stream_subgraphs: false,
        stream_resumable: false,
        durability: 'exit',
        temporary: true,
      },
      ...given,
    };
    send({ type: 'offer', id, request: request as ExecuteRequest });
    await answer('accept', id);
    return id;
  }

  it('reports a run that is cancelled as soon as it is begun', async () => {
    const id = await offer('waiting');
    channel.together(() => {
      send({ type: 'begin', id });
      send({ type: 'abort', id, reason: 'cancelled' });
    });
    expect((await answer('outcome', id)).outcome).toMatchObject({ status: 'aborted', state: { next: [] } });
  });

  it('reports a run that emits too large a value, although its clean-up fails', async () => {
    const id = await offer('emitting');
    send({ type: 'begin', id });
    expect((await answer('outcome', id)).outcome).toMatchObject({
      status: 'error',
      error: { error: 'MessageTooLarge' },
    });
  });

  it('hands a run back although its clean-up fails', async () => {
    const id = await offer('leaving');
    send({ type: 'begin', id });
    expect((await answer('outcome', id)).outcome).toEqual({ status: 'handed-back', inDoubt: true });
  });

  it('reports a run whose request it can’t read', async () => {
    const id = await offer('waiting', { kwargs: undefined });
    send({ type: 'begin', id });
    expect((await answer('broken', id)).message).toContain("KeyError('kwargs')");
  });

  it('runs what it is sent with half of a surrogate pair', async () => {
    const id = await offer('waiting', { metadata: { note: '\ud800' } });
    send({ type: 'begin', id });
    expect(await answer('node', id)).toMatchObject({ node: 'node' });
  });

  it('keeps no question to its parent that it could not send', async () => {
    const script = [
      'import asyncio',
      'from gantry_graphs.requests import ParentRequests',
      'class Full:',
      '    def send(self, message): raise ValueError("too large")',
      'async def ask():',
      '    requests = ParentRequests(Full())',
      '    try: await requests.ask("store", {})',
      '    except ValueError: print(len(requests._waiting))',
      'asyncio.run(ask())',
    ].join('\n');
    const env = { PYTHONPATH: join(__dirname, '..', '..', 'python') };
    expect(await runPython(['-c', script], env, pythonForGraphs())).toBe('0\n');
  });

  it('reports errors that are no Exception, of runs and of calls', async () => {
    const run = await offer('panicking');
    send({ type: 'begin', id: run });
    const failure = { error: 'Panic', message: 'no Exception' };
    expect(await answer('outcome', run)).toMatchObject({ outcome: { status: 'error', error: failure } });
    const call = (lastId += 1);
    send({
      type: 'call',
      id: call,
      name: 'getSchemas',
      args: { graphId: 'panicking', tenantId: 'tenant', config: {} },
    });
    expect(await answer('refused', call)).toMatchObject({ message: 'no Exception', errorName: 'Panic' });
  });

  it('reports errors that contain half of a surrogate pair', async () => {
    const message = 'half of a pair: \ufffd';
    const run = await offer('lost');
    send({ type: 'begin', id: run });
    expect(await answer('outcome', run)).toMatchObject({ outcome: { status: 'error', error: { message } } });
    const call = (lastId += 1);
    send({ type: 'call', id: call, name: 'getSchemas', args: { graphId: 'lost', tenantId: 'tenant', config: {} } });
    expect(await answer('refused', call)).toMatchObject({ message, errorName: 'OperationalError' });
  });
});
