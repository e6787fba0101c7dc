import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { Logger } from '@nestjs/common';
import type { TenantTokens } from '../../database/tenant-token';
import { GraphHost } from './graph-host';
import type { GraphRuntime } from './graph-runtime';
import { JSON_TEXT, MessageChannel } from './message-channel';
import type { ExecuteRequest, FromProcess, GraphOutcome, LoadedGraphs, ProcessData, ToProcess } from './protocol';
import type { StoreOperations } from './store-operations';

const COMPLETE: LoadedGraphs = { problems: {}, factories: [] };
/** Several looks at idle processes. */
const LONG_MS = 30_000;

/** A graph process that loads the graphs, and ends its runs, when the test has it do so. */
class FakeProcess {
  readonly child: EventEmitter & { kill: () => boolean };
  readonly messages: Socket;
  /** Runs that it has begun. */
  readonly runs: { id: number; runId: string }[] = [];
  /** Runs that it is to hand back. */
  readonly handedBack: number[] = [];
  hasEnded = false;
  private readonly requests = new Map<number, ExecuteRequest>();
  private readonly channel: MessageChannel;

  constructor() {
    const [ofHost, own] = duplexPair();
    this.messages = ofHost as Socket;
    const kill = (): boolean => {
      if (!this.hasEnded) setImmediate(() => this.child.emit('exit', null, 'SIGKILL'));
      this.hasEnded = true;
      return true;
    };
    this.child = Object.assign(new EventEmitter(), { pid: 1, kill });
    const take = (message: unknown): void => this.take(message as ToProcess);
    this.channel = new MessageChannel(own as Socket, take, () => undefined, { codec: JSON_TEXT });
  }

  load(loaded = COMPLETE): void {
    this.send({ type: 'ready', ...loaded });
  }

  send(message: FromProcess): void {
    this.channel.send(message);
  }

  private take(message: ToProcess): void {
    if (message.type === 'hand-back') this.handedBack.push(message.id);
    if (message.type === 'begin') this.runs.push({ id: message.id, runId: this.requests.get(message.id)!.runId });
    if (message.type !== 'offer') return;
    this.requests.set(message.id, message.request);
    this.send({ type: 'accept', id: message.id });
  }
}

describe('a host of graph processes', () => {
  let started: FakeProcess[];
  let host: GraphHost;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    for (const level of ['log', 'warn', 'error'] as const) jest.spyOn(Logger.prototype, level).mockReturnValue();
    started = [];
    const runtime = {
      codec: JSON_TEXT,
      start: () => {
        started.push(new FakeProcess());
        return started.at(-1) as unknown as { child: ChildProcess; messages: Socket };
      },
    };
    host = new GraphHost({
      processes: { min: 0, max: 1 },
      perTenant: false,
      reservesForLight: false,
      recycleAboveMb: undefined,
      data: Promise.resolve({ graphs: [{ graphId: 'home', threads: 1 }, { graphId: 'other' }] } as ProcessData),
      runtime: runtime as unknown as GraphRuntime,
      store: {} as StoreOperations,
      tokens: Promise.resolve({ ofRun: () => 'token' } as unknown as TenantTokens),
      confinement: { env: {} },
    });
  });

  afterEach(async () => {
    await host.close();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  /** Lets everything happen that needs no time. */
  async function settle(): Promise<void> {
    for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  function begin(runId: string, graphId: string, onAlone?: () => Promise<void>) {
    const [abort, handBack] = [new AbortController(), new AbortController()];
    const outcome: Promise<GraphOutcome> = host.execute(
      { runId, graphId, tenantId: 'tenant', threadId: runId } as ExecuteRequest,
      {
        ...(onAlone && { onAlone }),
        signal: abort.signal,
        handBack: handBack.signal,
        onEvents: () => Promise.resolve(),
        onNode: () => undefined,
      },
    );
    outcome.catch(() => undefined);
    return { outcome, abort, handBack };
  }

  const nothing = (): Promise<void> => Promise.resolve();

  it('ends a run of its own that is aborted while its process loads, with the process, and frees its slot', async () => {
    const runs = ['one', 'two'].map((runId) => begin(runId, 'other', nothing));
    await settle();
    // A tenant has one of two slots.
    expect(started).toHaveLength(1);
    runs[0].abort.abort();
    expect(await runs[0].outcome).toEqual({ status: 'aborted' });
    expect(started[0].hasEnded).toBe(true);
    await settle();
    expect(started).toHaveLength(2);
    runs[1].handBack.abort();
    await expect(runs[1].outcome).rejects.toThrow('about to stop');
    expect(started[1].hasEnded).toBe(true);
  });

  it('ends it also during the pause before its next process', async () => {
    const whole = host.start();
    started[0].load();
    await whole;
    const run = begin('one', 'other', nothing);
    await settle();
    started[1].load({ problems: { other: 'its server is down' }, factories: [] });
    await settle();
    expect(started[1].hasEnded).toBe(true);
    run.abort.abort();
    expect(await run.outcome).toEqual({ status: 'aborted' });
    expect(started).toHaveLength(2);
  });

  it('reports to a process that a run is handed back also when that was requested before the run began', async () => {
    const run = begin('one', 'other', () => Promise.resolve(run.handBack.abort()));
    await settle();
    started[0].load();
    await settle();
    const [{ id }] = started[0].runs;
    expect(started[0].handedBack).toEqual([id]);
    started[0].send({ type: 'outcome', id, outcome: { status: 'handed-back', inDoubt: false } });
    expect(await run.outcome).toEqual({ status: 'handed-back', inDoubt: false });
  });

  it('ends runs that are aborted while they wait for the process of their graph, and lets the others wait on', async () => {
    const [aborted, handedBack, waiting] = ['one', 'two', 'three'].map((runId) => begin(runId, 'home'));
    await settle();
    aborted.abort.abort();
    handedBack.handBack.abort();
    expect(await aborted.outcome).toEqual({ status: 'aborted' });
    await expect(handedBack.outcome).rejects.toThrow('about to stop');
    const later = begin('four', 'home');
    await settle();
    started[0].load();
    await settle();
    expect(started[0].runs.map(({ runId }) => runId)).toEqual(['three', 'four']);
    for (const { id } of started[0].runs) started[0].send({ type: 'outcome', id, outcome: { status: 'success' } });
    expect(await Promise.all([waiting.outcome, later.outcome])).toEqual([{ status: 'success' }, { status: 'success' }]);
  });

  it('ends processes that are stuck also while a graph waits for its own', async () => {
    const whole = host.start();
    started[0].load();
    await whole;
    // Its code blocks it: it sends no pulse any more.
    await jest.advanceTimersByTimeAsync(5_000);
    begin('one', 'home');
    await settle();
    expect(started).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(LONG_MS);
    expect(started[0].hasEnded).toBe(true);
  });

  it.each([
    ['keeps the process of a graph that failed to load another one, which runs elsewhere', 'other', true],
    ['replaces the process of a graph that failed to load the graph itself', 'home', false],
  ])('%s', async (_, lost, isKept) => {
    const whole = host.start();
    started[0].load();
    await whole;
    started[0].child.kill();
    await settle();
    const first = begin('one', 'home');
    await settle();
    // After as many, one is used without the graph.
    for (let loads = 1; loads <= 4; loads += 1) {
      started[loads].load({ problems: { [lost]: 'its server is down' }, factories: [] });
      await settle();
      await jest.advanceTimersByTimeAsync(9_000);
    }
    const process = started[4];
    expect(process.runs.map(({ runId }) => runId)).toEqual(['one']);
    // It still runs when another process has loaded the graph.
    started[5].load();
    await settle();
    await jest.advanceTimersByTimeAsync(1_500);
    const [second, elsewhere] = [begin('two', 'home'), begin('three', 'other')];
    await settle();
    const homes = started.filter(({ runs }) => runs.some(({ runId }) => runId === 'two'));
    expect(homes).toEqual([isKept ? process : started[5]]);
    expect(started[5].runs.map(({ runId }) => runId)).toContain('three');
    for (const each of started) {
      for (const { id } of each.runs) each.send({ type: 'outcome', id, outcome: { status: 'success' } });
    }
    await Promise.all([first, second, elsewhere].map(({ outcome }) => outcome));
    await jest.advanceTimersByTimeAsync(1_500);
    expect(process.hasEnded).toBe(!isKept);
  });
});
