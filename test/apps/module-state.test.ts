import { writeFileSync } from 'node:fs';
import { startGantry, type Gantry } from '../support/gantry';
import { layOutProject, type Project } from '../support/project';
import { waitFor } from '../support/wait-for';

interface Seen {
  pid: number;
  count: number;
}

/** Reports its process and how often its module was loaded there; waits until a file exists. */
const COUNTING = `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

let count = 0;
const State = Annotation.Root({ until: Annotation<string>, pid: Annotation<number>, count: Annotation<number> });
export const graph = new StateGraph(State)
  .addNode('look', async ({ until }, { writer }) => {
    count += 1;
    const seen = { pid: process.pid, count };
    writer?.(seen);
    while (until && !existsSync(until)) await sleep(20);
    return seen;
  })
  .addEdge(START, 'look')
  .addEdge('look', END)
  .compile();
`;

/** Each graph process has its own copy of a module. */
describe('the memory of a module', () => {
  let project: Project;
  let gantry: Gantry;

  beforeAll(async () => {
    project = layOutProject({
      'langgraph.json': { graphs: { many: './many.ts:graph', one: { path: './one.ts:graph', threads: 1 } } },
      'many.ts': COUNTING,
      'one.ts': COUNTING,
    });
    const env = { GANTRY_GRAPH_THREADS_MIN: '2', GANTRY_GRAPH_THREADS_MAX: '4' };
    gantry = await startGantry({ graphs: project.path('langgraph.json'), env });
  });

  afterAll(async () => {
    await gantry?.stop();
    project?.remove();
  });

  const newThread = async (): Promise<string> => (await gantry.client().threads.create()).thread_id;

  /** A run that occupies its process until it is released. */
  async function hold(graph: string, thread: string): Promise<{ seen: Seen; letGo: () => Promise<void> }> {
    const until = project.path(`let-go-${thread}.flag`);
    const client = gantry.client();
    const stream = client.runs.stream(thread, graph, { input: { until }, streamMode: 'custom' });
    const events = stream[Symbol.asyncIterator]();
    const seen = await waitFor('it to begin', async () => {
      const { value } = (await events.next()) as { value: { event: string; data: Seen } };
      return value.event === 'custom' && value.data;
    });
    return {
      seen,
      letGo: async () => {
        writeFileSync(until, '');
        while (!(await events.next()).done);
      },
    };
  }

  it('is found again by the thread: its next run is in the process of its last one, when that is idle', async () => {
    const [first, second] = [await newThread(), await newThread()];
    const held = await hold('many', first);
    const before = (await gantry.client().runs.wait(second, 'many', { input: {} })) as unknown as Seen;
    expect(before.pid).not.toBe(held.seen.pid);
    await held.letGo();
    for (const [thread, { pid, count }] of [
      [second, before],
      [first, held.seen],
    ] as const) {
      expect(await gantry.client().runs.wait(thread, 'many', { input: {} })).toMatchObject({ pid, count: count + 1 });
    }
  });

  it('is shared by all runs of a graph that asks for one process, concurrent ones included', async () => {
    const held = await Promise.all([1, 2, 3].map(async () => hold('one', await newThread())));
    const spread = await Promise.all([1, 2].map(async () => hold('many', await newThread())));
    expect(new Set(held.map(({ seen }) => seen.pid)).size).toBe(1);
    expect(held.map(({ seen }) => seen.count).sort()).toEqual([1, 2, 3]);
    expect(new Set(spread.map(({ seen }) => seen.pid)).size).toBe(2);
    await Promise.all([...held, ...spread].map(({ letGo }) => letGo()));
    expect(await gantry.client().runs.wait(null, 'one', { input: {} })).toMatchObject({
      pid: held[0].seen.pid,
      count: 4,
    });
  });
});
