import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { amount } from '../support/amount';
import { Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

const STORE_GRAPHS = join(__dirname, '..', 'support', 'graphs', 'store.json');

/** Items that a node puts are complete or absent, and belong to the attempt that owns the run. */
describe('a worker lost in a node that puts an item', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      sweepSeconds: 1,
      graphs: STORE_GRAPHS,
      graphProcesses: 1,
      env: { GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '6' },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  async function start(input: Record<string, unknown>): Promise<{ thread: string; run: string }> {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, 'slow', { input });
    await waitFor('the node to begin', async () => (await gantry.ledger.of(run)).length > 0);
    return { thread, run };
  }

  const attemptOf = async (key: string): Promise<unknown> => (await client.store.getItem(['slow'], key))?.value.attempt;
  const embeddingsOf = async (key: string): Promise<number> =>
    (await gantry.sql.query(`SELECT 1 FROM store_embeddings WHERE key = $1`, [key])).rows.length;

  it('by SIGKILL after the put: the next attempt replaces the whole item', async () => {
    const { thread, run } = await start({ key: 'killed', wait_ms: 60_000 });
    await waitFor('the put', async () => (await attemptOf('killed')) === 1);
    await gantry.killWorker();
    expect(await embeddingsOf('killed')).toBe(1);
    await gantry.startWorker();
    await client.runs.join(thread, run);
    const item = await client.store.getItem(['slow'], 'killed');
    expect(item!.value).toEqual({ attempt: 2, text: '2'.repeat(100_000) });
    expect(await embeddingsOf('killed')).toBe(1);
  });

  it('by SIGKILL during the put, repeatedly: the item and its embedding change together', async () => {
    for (let round = 0; round < amount(1, 3); round += 1) {
      const key = `round-${round}`;
      const { thread, run } = await start({ key, wait_ms: 0 });
      await gantry.killWorker();
      const item = await client.store.getItem(['slow'], key);
      expect(await embeddingsOf(key)).toBe(item ? 1 : 0);
      await gantry.startWorker();
      await client.runs.join(thread, run);
      expect(await client.store.getItem(['slow'], key)).not.toBeNull();
      expect(await embeddingsOf(key)).toBe(1);
    }
  });

  it('by SIGSTOP before the put: its put after it wakes is refused', async () => {
    const { thread, run } = await start({ key: 'frozen', wait_ms: 8_000, pauses_first: true });
    const frozen = gantry.worker;
    frozen.signal('SIGSTOP');
    const other = await gantry.startWorker();
    await client.runs.join(thread, run);
    expect(await attemptOf('frozen')).toBe(2);
    const before = await client.store.getItem(['slow'], 'frozen');

    // The process wakes, and its node continues and is refused. That is over once it has served another run.
    frozen.signal('SIGCONT');
    await gantry.killWorker('SIGKILL', other);
    await client.runs.wait(null, 'slow', { input: { key: 'after', wait_ms: 1_500 } });
    expect((await gantry.ledger.all()).at(-1)!.pid).toBe(frozen.pid);
    expect(await client.store.getItem(['slow'], 'frozen')).toEqual(before);
    expect((await gantry.ledger.of(run)).filter(({ ended_at }) => ended_at !== null)).toHaveLength(1);
  });
});
