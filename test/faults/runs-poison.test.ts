import type { Client } from '@langchain/langgraph-sdk';
import { amount } from '../support/amount';
import { Gantry, startGantry } from '../support/gantry';
import { describeLanguages } from '../support/languages';
import { TenantCaller } from '../support/two-tenants';
import { waitFor } from '../support/wait-for';

/** A run that ends the process that executes it ends as an error, and no other run ends with it. */
describeLanguages('runs in $language that kill the process that executes them', ({ graphs }) => {
  const admin = 'admin-key-0123456789';
  let gantry: Gantry;
  let healthy: Client;
  let poisonous: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      sweepSeconds: 1,
      graphs,
      env: {
        GANTRY_AUTH: 'on',
        GANTRY_ADMIN_KEY: admin,
        GANTRY_RUN_LOST_ATTEMPTS: '2',
        // All runs share it, those of tenants with little work as well.
        GANTRY_GRAPH_THREADS_MAX: '1',
      },
    });
    const tenants = [await TenantCaller.create(gantry.url, admin), await TenantCaller.create(gantry.url, admin)];
    [healthy, poisonous] = tenants.map(({ key }) => gantry.client({ apiKey: key }));
  });

  afterAll(() => gantry?.stop());

  const start = async (client: Client, graph: string, input: object): Promise<{ thread: string; run: string }> => {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, graph, { input: input as Record<string, unknown> });
    return { thread, run };
  };

  it('end as an error after the configured number of attempts, and their finished nodes ran once', async () => {
    const { thread, run } = await start(poisonous, 'poison', {});
    await poisonous.runs.join(thread, run);
    expect(await poisonous.runs.get(thread, run)).toMatchObject({ status: 'error' });
    expect(await poisonous.threads.get(thread)).toMatchObject({ status: 'error', error: { error: 'RunLost' } });
    expect((await gantry.ledger.of(run)).map(({ node }) => node)).toEqual([
      'fine',
      // Once in a host that others may share, then twice in one of its own.
      ...Array<string>(3).fill('deadly'),
    ]);
    // The worker has outlived it.
    expect(await poisonous.runs.wait(null, 'three', { input: {} })).toMatchObject({
      done: ['node_1', 'node_2', 'node_3'],
    });
  });

  it('are cancelled while a process of their own starts, and leave what their finished nodes did', async () => {
    const { thread, run } = await start(poisonous, 'poison', {});
    await waitFor('the next attempt', async () => {
      const { rows } = await gantry.sql.query<{ attempt: number }>('SELECT attempt FROM runs WHERE run_id = $1', [run]);
      return rows[0].attempt >= 2;
    });
    await poisonous.runs.cancel(thread, run, true);
    expect(await poisonous.runs.get(thread, run)).toMatchObject({ status: 'interrupted' });
    expect(await poisonous.threads.get(thread)).toMatchObject({ values: { done: ['fine'] } });
  });

  it("end none of the concurrent runs, which are another tenant's", async () => {
    const good = await Promise.all(Array.from({ length: 4 }, () => start(healthy, 'sleep', { sleep_ms: 12_000 })));
    const naps = async (): Promise<number> =>
      (await Promise.all(good.map(({ run }) => gantry.ledger.of(run)))).flat().filter(({ node }) => node === 'nap')
        .length;
    await waitFor('the healthy runs to be in the process', async () => (await naps()) === 4);
    const bad = await Promise.all(Array.from({ length: amount(2, 5) }, () => start(poisonous, 'poison', {})));
    for (const { thread, run } of good) {
      await healthy.runs.join(thread, run);
      expect(await healthy.runs.get(thread, run)).toMatchObject({ status: 'success' });
    }
    for (const { thread, run } of bad) {
      await poisonous.runs.join(thread, run);
      expect(await poisonous.threads.get(thread)).toMatchObject({ status: 'error', error: { error: 'RunLost' } });
    }
    // The healthy ones were in the process that died: else this shows nothing.
    expect(await naps()).toBeGreaterThan(4);
  });
});
