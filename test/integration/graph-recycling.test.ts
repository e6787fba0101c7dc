import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { type Gantry, startGantry } from '../support/gantry';
import { graphProcessesOf } from '../support/gantry-process';
import { describeInBothLanguages } from '../support/languages';
import { waitFor } from '../support/wait-for';

/** More than a process takes that has loaded the graphs. */
const RECYCLE_MB = 350;

describe('a graph process with more memory than GANTRY_GRAPH_RECYCLE_MB', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: join(__dirname, '..', 'support', 'graphs', 'growing.json'),
      graphProcesses: 1,
      env: { GANTRY_GRAPH_RECYCLE_MB: String(RECYCLE_MB) },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  describeInBothLanguages('of graphs in $language', ({ named }) => {
    const pidOf = async (): Promise<number> =>
      ((await client.runs.wait(null, named('growing'), { input: {} })) as { pid: number }).pid;

    it('finishes its runs and ends, while another one takes the new runs', async () => {
      const ending = join(tmpdir(), `gantry-growing-${randomUUID()}`);
      try {
        const before = await pidOf();
        expect(await pidOf()).toBe(before);
        const { thread_id: thread } = await client.threads.create();
        const input = { mb: RECYCLE_MB, until_file: ending };
        const { run_id: run } = await client.runs.create(thread, named('growing'), { input });
        const after = await waitFor('another process', async () => {
          const pid = await pidOf();
          return pid !== before && pid;
        });
        expect((await client.runs.get(thread, run)).status).toBe('running');
        writeFileSync(ending, '');
        expect(await client.runs.join(thread, run)).toMatchObject({ pid: before });
        await waitFor('the end of the process', () => !graphProcessesOf(gantry.worker.pid).includes(before));
        expect(await pidOf()).toBe(after);
      } finally {
        rmSync(ending, { force: true });
      }
    });
  });
});
