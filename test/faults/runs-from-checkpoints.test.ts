import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { Gantry, startGantry } from '../support/gantry';
import { graphProcessesOf } from '../support/gantry-process';
import { describeInBothLanguages } from '../support/languages';
import { waitFor } from '../support/wait-for';

const STEPS = ['first', 'second', 'third'];
const GRAPHS = join(__dirname, '../support/graphs/doubt-languages.json');

interface Started {
  thread: string;
  run: string;
}

type Payload = Pick<
  NonNullable<Parameters<Client['runs']['create']>[2]>,
  'input' | 'command' | 'config' | 'checkpoint' | 'interruptBefore'
>;

/** The first step of these runs is that of a checkpoint which an earlier run has written. */
describe('runs that start from a checkpoint of an earlier run', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ sweepSeconds: 1, graphs: GRAPHS, graphProcesses: 1 });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  async function createThread(graph: string, payload: Payload): Promise<string> {
    const { thread_id: thread } = await client.threads.create();
    await client.runs.wait(thread, graph, payload);
    return thread;
  }

  async function start(thread: string, graph: string, payload: Payload): Promise<Started> {
    return { thread, run: (await client.runs.create(thread, graph, payload)).run_id };
  }

  const executions = async (run: string): Promise<string[]> =>
    (await gantry.ledger.of(run)).map(({ node, attempt }) => `${node} ${attempt}`);

  const untilNode = (run: string, node: string): Promise<true> =>
    waitFor(`the node ${node} of the run`, async () => (await executions(run)).includes(`${node} 1`));

  /** Waits until the end of a node that changes no state is stored. */
  const untilSilentEnd = (thread: string): Promise<true> =>
    waitFor('the end of a node that changes no state', async () => {
      const ends = `SELECT 1 FROM ${CHECKPOINT_SCHEMA}.checkpoint_writes WHERE thread_id = $1 AND channel = '__no_writes__'`;
      return (await gantry.sql.query(ends, [thread])).rows.length > 0;
    });

  const doneIn = async (thread: string): Promise<string[]> =>
    ((await client.threads.getState(thread)).values as { done: string[] }).done;

  /** Starts a run with input that names the newest checkpoint of its thread. */
  async function startAtHead(graph: string, input: Record<string, unknown>): Promise<Started> {
    const thread = await createThread(graph, { input: {} });
    const { checkpoint } = await client.threads.getState(thread);
    return start(thread, graph, { input, checkpoint: checkpoint as Payload['checkpoint'] });
  }

  describeInBothLanguages('in $language, whose worker stops during a nested graph', ({ named }) => {
    const GRAPHS_OF_ONE_NODE = ['careless', 'careless_stateful', 'wrapping'];
    const GRAPHS_OF_TWO_NODES = ['beside', 'careless_beside'];
    const started = new Map<string, Started>();

    beforeAll(async () => {
      for (const graph of [...GRAPHS_OF_ONE_NODE, ...GRAPHS_OF_TWO_NODES]) {
        const { thread_id: thread } = await client.threads.create();
        const run = await client.runs.create(thread, named(graph), {
          input: { step_ms: 4_000 },
          streamMode: ['updates'],
          streamResumable: true,
        });
        started.set(graph, { thread, run: run.run_id });
      }
      await Promise.all([...started.values()].map(({ run }) => untilNode(run, 'first')));
      const old = gantry.worker;
      await Promise.all([gantry.killWorker('SIGTERM', old), gantry.startWorker()]);
      await Promise.all([...started.values()].map(({ thread, run }) => client.runs.join(thread, run)));
    });

    it.each(GRAPHS_OF_ONE_NODE)(
      'continue the nested graph, whatever their node makes of its error: %s',
      async (graph) => {
        const { thread, run } = started.get(graph)!;
        expect(await doneIn(thread)).toEqual(STEPS);
        const ran = await executions(run);
        expect(ran.map((each) => each.split(' ')[0])).toEqual(STEPS);
        expect([ran[0], ran[2]]).toEqual(['first 1', 'third 2']);
      },
    );

    it.each(GRAPHS_OF_TWO_NODES)('let a node beside it end, and emit its end once: %s', async (graph) => {
      const { thread, run } = started.get(graph)!;
      expect((await doneIn(thread)).sort()).toEqual(['first', 'plain', 'second', 'third']);
      expect((await executions(run)).sort()).toEqual(['first 1', 'plain 1', 'second 2', 'third 2']);
      const nodes: string[] = [];
      for await (const { event, data } of client.runs.joinStream(thread, run, { lastEventId: '-1' })) {
        if (event === 'updates') nodes.push(...Object.keys(data as object));
      }
      expect(nodes.sort()).toEqual(['outer', 'plain']);
    });
  });

  describeInBothLanguages('in $language, after SIGKILL of the graph process', ({ named }) => {
    let head: Started;
    let configured: Started;
    let forked: Started;
    let approved: Started;
    let approvedTwice: Started;
    let confirmed: Started;

    beforeAll(async () => {
      const steps = named('steps');
      head = await startAtHead(steps, { hangs: true });

      const thread = await createThread(steps, { input: {} });
      const { checkpoint_id } = (await client.threads.getState(thread)).checkpoint as { checkpoint_id: string };
      configured = await start(thread, steps, { input: { hangs: true }, config: { configurable: { checkpoint_id } } });

      const left = await createThread(steps, { input: { hangs: true }, interruptBefore: ['first'] });
      const { checkpoint } = await client.threads.getState(left);
      await client.runs.wait(left, steps, { input: { hangs: false } });
      forked = await start(left, steps, { input: null, checkpoint: checkpoint as Payload['checkpoint'] });

      approved = await start(await createThread(named('approved'), { input: {} }), named('approved'), {
        command: { resume: 'yes' },
      });
      const twice = await createThread(named('approved_twice'), { input: {} });
      await client.runs.wait(twice, named('approved_twice'), { command: { resume: 'yes' } });
      approvedTwice = await start(twice, named('approved_twice'), { command: { resume: 'yes' } });
      confirmed = await start(await createThread(named('confirmed'), { input: {} }), named('confirmed'), {
        input: null,
      });
      await Promise.all([
        ...[head, configured, forked].map(({ run }) => untilNode(run, 'second')),
        ...[approved, approvedTwice, confirmed].map(({ run }) => untilNode(run, 'pay')),
        untilSilentEnd(confirmed.thread),
      ]);
      for (const pid of graphProcessesOf(gantry.worker.pid)) process.kill(pid, 'SIGKILL');
    });

    it('keep their input, and run no finished node again', async () => {
      for (const { thread, run } of [head, configured]) {
        await client.runs.join(thread, run);
        expect(await executions(run)).toEqual(['first 1', 'second 1', 'second 2', 'third 2']);
        expect(await doneIn(thread)).toEqual([...STEPS, ...STEPS]);
        expect((await client.threads.getState(thread)).values).toMatchObject({ hangs: true });
      }
    });

    it('run no finished node of a fork again', async () => {
      const { thread, run } = forked;
      await client.runs.join(thread, run);
      expect(await executions(run)).toEqual(['first 1', 'second 1', 'second 2', 'third 2']);
      expect(await doneIn(thread)).toEqual(STEPS);
    });

    it.each([
      ['that a person has answered', () => approved, 'approved'],
      ['that a person has answered twice', () => approvedTwice, 'approved_twice'],
      ['that a person has confirmed beside one that has ended', () => confirmed, 'confirmed'],
    ])('with `on_unknown: interrupt`: start no node %s again until a person decides', async (_, started, graph) => {
      const { thread, run } = started();
      await client.runs.join(thread, run);
      const { status, interrupts } = await client.threads.get(thread);
      expect(status).toBe('interrupted');
      expect(Object.values(interrupts).flat()).toMatchObject([
        { value: { type: 'unknown_outcome', node: 'pay', run_id: run, attempt: 1 } },
      ]);
      expect(await executions(run)).toEqual(['pay 1']);

      const { run: again } = await start(thread, named(graph), { input: null });
      await untilNode(again, 'pay');
      await client.runs.cancel(thread, again, true);
    });
  });

  describeInBothLanguages('in $language, after SIGTERM of the worker', ({ named }) => {
    it('keep their input, and run each node once', async () => {
      const { thread, run } = await startAtHead(named('steps'), { step_ms: 3_000 });
      await untilNode(run, 'first');
      await Promise.all([gantry.killWorker('SIGTERM', gantry.worker), gantry.startWorker()]);
      await client.runs.join(thread, run);
      expect((await gantry.ledger.of(run)).map(({ node }) => node)).toEqual(STEPS);
      expect((await executions(run)).at(-1)).toBe('third 2');
      expect(await doneIn(thread)).toEqual([...STEPS, ...STEPS]);
    });
  });
});
