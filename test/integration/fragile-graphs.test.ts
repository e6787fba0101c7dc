import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { graphProcessesOf } from '../support/gantry-process';
import { waitFor } from '../support/wait-for';

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'fragile.json');

describe('a graph whose module needs a server that is down for a moment', () => {
  let gantry: Gantry;
  let client: Client;
  let folder: string;
  let down: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-fragile-'));
    down = join(folder, 'down');
    gantry = await startGantry({ graphs: GRAPHS, graphProcesses: 1, env: { GANTRY_TEST_DOWN_FILE: down } });
    client = gantry.client();
  });

  afterAll(async () => {
    await gantry?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Ends the graph processes while the server is down, and resolves when another one has failed to load the graph. */
  async function loseProcesses(): Promise<void> {
    writeFileSync(down, '');
    for (const pid of graphProcessesOf(gantry.worker.pid)) process.kill(pid, 'SIGKILL');
    await waitFor('another process', () => gantry.logs().includes('ECONNREFUSED tools.example:443'));
  }

  it('is served again when the server is back; its runs wait for that', async () => {
    expect(await client.runs.wait(null, 'fragile', { input: {} })).toEqual({ answer: 'yes' });
    await loseProcesses();
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'fragile', { input: {} });
    rmSync(down);
    expect(await client.runs.join(thread, run)).toEqual({ answer: 'yes' });
  });

  it('fails its runs with the reason while it stays down, and not those of other graphs', async () => {
    await loseProcesses();
    expect(await client.runs.wait(null, 'three', { input: {} })).toHaveProperty('done');
    await expect(client.runs.wait(null, 'fragile', { input: {} })).rejects.toThrow(/ECONNREFUSED tools.example:443/);
    rmSync(down);
    const isServed = (): Promise<boolean> =>
      client.runs.wait(null, 'fragile', { input: {} }).then(
        () => true,
        () => false,
      );
    await waitFor('the graph to be served', isServed);
  });
});
