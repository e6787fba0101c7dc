import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { SseReader, type SseEvent } from '../support/sse';
import { SupervisedGraphs } from '../support/supervised-graphs';
import { waitFor } from '../support/wait-for';

/** The ten-node graph in each language, in one project. */
const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'ten-languages.json');
const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);
const STEP_MS = 2_500;
/** Parts that are killed, some of them together. The last are those without which runs continue, and may end before they are back. */
const KILLS = [['postgres'], ['worker'], ['api', 'temporal']];
const LANGUAGES = [
  { language: 'TypeScript', graph: 'ten' },
  { language: 'Python', graph: 'ten_python' },
];

interface StartedRun {
  thread: string;
  run: string;
  /** What a client has received that joined the run at its start and joined again whenever its stream broke. */
  received: Promise<SseEvent[]>;
}

/** Runs in both languages survive the death of everything that Gantry stands on. */
describe(`SIGKILL of ${KILLS.flat().join(', ')} in the middle of ten-node graphs in TypeScript and Python`, () => {
  let gantry: SupervisedGraphs;
  let client: Client;
  let runs: Map<string, StartedRun>;
  const givingUp = new AbortController();

  beforeAll(async () => {
    gantry = await SupervisedGraphs.start(GRAPHS, {
      GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '2',
      GANTRY_SWEEP_INTERVAL_SECONDS: '1',
      GANTRY_GRAPH_THREADS_MAX: '1',
    });
    client = new Client({ apiUrl: gantry.url, apiKey: null, callerOptions: { maxRetries: 0 } });
    runs = new Map();
    // The other one must not be over before the process of the graphs in Python has started.
    for (const { graph } of LANGUAGES.toReversed()) {
      const started = await startRun(graph);
      runs.set(graph, started);
      await waitFor('its first node', async () => (await nodesOf(started.run)).length > 0);
    }
    let begun = 2;
    for (const parts of KILLS) begun = await killInTheMiddle(parts, begun);
  }, 300_000);

  afterAll(async () => {
    givingUp.abort();
    await gantry?.stop();
  }, 90_000);

  async function startRun(graph: string): Promise<StartedRun> {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, graph, {
      input: { step_ms: STEP_MS },
      streamMode: ['updates', 'values'],
    });
    const received = follow(thread, run);
    // A failure before the test awaits it belongs to that test.
    received.catch(() => undefined);
    return { thread, run, received };
  }

  /** Reads a run to its end, and joins again after the last event whenever the stream breaks, as applications do. */
  async function follow(thread: string, run: string): Promise<SseEvent[]> {
    const events: SseEvent[] = [];
    const { signal } = givingUp;
    return waitFor(
      'the end of the stream',
      async () => {
        const lastEventId = events.at(-1)?.id ?? '-1';
        try {
          for await (const event of client.runs.joinStream(thread, run, { lastEventId, signal })) {
            events.push(event as unknown as SseEvent);
          }
          return events;
        } catch {
          // The api, or what it reads from, is dead.
          return signal.aborted && events;
        }
      },
      240_000,
    );
  }

  /** Nodes that a run has begun. */
  const nodesOf = async (run: string): Promise<string[]> => [
    ...new Set((await gantry.ledger.of(run)).map(({ node }) => node)),
  ];

  /**
   * Kills parts once each run has begun this many nodes, and none of them the last.
   * @returns number of nodes that each run has to begin for the next kill: one more than any has begun
   */
  async function killInTheMiddle(parts: string[], begun: number): Promise<number> {
    const counts: number[] = [];
    for (const { run } of runs.values()) {
      const what = `node ${begun}, before ${parts.join(' and ')} die`;
      await waitFor(what, async () => (await nodesOf(run)).length >= begun);
    }
    for (const { run } of runs.values()) counts.push((await nodesOf(run)).length);
    expect([parts, Math.max(...counts) < NODES.length]).toEqual([parts, true]);
    await Promise.all(parts.map((part) => gantry.kill(part)));
    return Math.max(...counts) + 1;
  }

  describe.each(LANGUAGES)('in $language', ({ graph }) => {
    let started: StartedRun;
    let events: SseEvent[];

    beforeAll(async () => {
      started = runs.get(graph)!;
      events = await started.received;
    }, 260_000);

    it('the run succeeds, and loses nothing', async () => {
      const { thread, run } = started;
      expect(await client.runs.get(thread, run)).toMatchObject({ status: 'success' });
      expect(await client.threads.get(thread)).toMatchObject({ status: 'idle', values: { done: NODES } });
    });

    it('finished nodes ran once, and a node in flight was repeated by a later attempt with the same key', async () => {
      expect(await nodesOf(started.run)).toEqual(NODES);
      const executions = await gantry.ledger.of(started.run);
      for (const [index, now] of executions.entries()) {
        const before = executions[index - 1];
        if (!before) continue;
        const isNext = NODES.indexOf(now.node) === NODES.indexOf(before.node) + 1;
        const isAgain = now.node === before.node && now.attempt > before.attempt && now.key === before.key;
        expect([before.node, now.node, isNext || isAgain]).toEqual([before.node, now.node, true]);
      }
    });

    it('a client that joins again after the last event receives each event once', async () => {
      expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(index)));
      const updated = events
        .filter(({ event }) => event === 'updates')
        .flatMap(({ data }) => Object.keys(data as object));
      expect([...new Set(updated)]).toEqual(NODES);
      const path = `/threads/${started.thread}/runs/${started.run}/stream`;
      const replay = await SseReader.get(`${gantry.url}${path}`, { 'last-event-id': '-1' });
      expect(await replay.rest()).toEqual(events);
    });
  });
});
