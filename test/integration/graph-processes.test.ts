import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { graphProcessesOf } from '../support/gantry-process';
import { isRunning } from '../support/processes';
import { waitFor } from '../support/wait-for';

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'crash.json');
const UNPRIVILEGED = '65534';

describe('a graph process', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: GRAPHS,
      env: { GANTRY_GRAPH_MEMORY_MB: '128' },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  it.each(['exit', 'fault', 'memory', 'garbage', 'content', 'length', 'nonsense', 'unknown', 'close'])(
    'that ends by %s leaves the worker alone, and its run continues',
    async (way) => {
      const worker = gantry.worker;
      const { thread_id: thread } = await client.threads.create();
      const { run_id: run } = await client.runs.create(thread, 'crash', { input: { way } });
      expect(await client.runs.join(thread, run)).toMatchObject({ survived: true });
      expect((await gantry.ledger.of(run)).map(({ attempt, pid }) => [attempt, pid])).toEqual([
        [1, worker.pid],
        [2, worker.pid],
      ]);
      expect(worker.isAlive).toBe(true);
    },
  );

  it('ends with its worker, also while its code blocks the event loop', async () => {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'block', { input: { block_ms: 600_000, busy: true } });
    await waitFor('the node to block', async () => (await gantry.ledger.of(run)).length > 0);
    const children = graphProcessesOf(gantry.worker.pid);
    expect(children.length).toBeGreaterThan(0);
    await gantry.killWorker('SIGKILL');
    await waitFor('the graph processes to end', () => !children.some(isRunning));
    await client.runs.cancel(thread, run, false);
    await gantry.startWorker();
  });

  const asRoot = process.getuid?.() === 0 && [process.execPath, __dirname].every(isOpenToOthers) ? it : it.skip;
  asRoot('runs as another user, who can read nothing of the worker, where the operator gives one', async () => {
    await gantry.killWorker('SIGKILL');
    const worker = await gantry.startWorker({ GANTRY_GRAPH_UID: UNPRIVILEGED, GANTRY_GRAPH_GID: UNPRIVILEGED });
    expect(await client.runs.wait(null, 'who', { input: {} })).toEqual({ uid: Number(UNPRIVILEGED), parent: 'EACCES' });
    expect(worker.isAlive).toBe(true);
  });
});

/** Whether another user may enter every folder on the way: the program of Node may be in a home. */
function isOpenToOthers(path: string): boolean {
  const parent = dirname(path);
  return (statSync(path).mode & 0o001) !== 0 && (parent === path || isOpenToOthers(parent));
}
