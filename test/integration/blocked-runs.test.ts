import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { graphProcessesOf } from '../support/gantry-process';
import { describeLanguages } from '../support/languages';
import { expectSoon, waitFor } from '../support/wait-for';

const SLOTS = 3;
/** More than the start of as many processes takes: the first run is still there when the last one has begun. */
const LIMIT_SECONDS = 45;
/** A process that is idle, one for the next work, and one that is just being replaced. */
const MAX_PROCESSES = 3;

describeLanguages('runs in $language whose nodes block for ever', ({ graphs }) => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      graphs,
      graphProcesses: 1,
      env: {
        GANTRY_RUNS_PER_WORKER: String(SLOTS),
        GANTRY_RUN_TIMEOUT_SECONDS: String(LIMIT_SECONDS),
      },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  /** Starts as many of them as the worker has slots, each in a process that answers. */
  async function blockAll(): Promise<{ thread: string; run: string }[]> {
    const runs = [];
    for (let count = 0; count < SLOTS; count += 1) {
      const { thread_id: thread } = await client.threads.create();
      const input = { until_file: join(__dirname, 'no-such-file') };
      const { run_id: run } = await client.runs.create(thread, 'block', { input });
      await waitFor('the node to block', async () => (await gantry.ledger.of(run)).length > 0);
      runs.push({ thread, run });
    }
    return runs;
  }

  async function expectFree(): Promise<void> {
    expect(await client.runs.wait(null, 'three', { input: {} })).toHaveProperty('done');
    await waitFor('few processes', () => graphProcessesOf(gantry.worker.pid).length <= MAX_PROCESSES);
  }

  it.each(['interrupted', 'timeout'])('end as %s, and leave the worker free', async (status) => {
    const runs = await blockAll();
    if (status === 'interrupted') {
      await Promise.all(runs.map(({ thread, run }) => client.runs.cancel(thread, run)));
    }
    for (const { thread, run } of runs) {
      await expectSoon(async () => (await client.runs.get(thread, run)).status as string, status, 90_000);
      expect((await gantry.ledger.of(run)).map(({ attempt }) => attempt)).toEqual([1]);
      expect((await client.threads.getState(thread)).next).toEqual(['spin']);
    }
    await expectFree();
  });
});
