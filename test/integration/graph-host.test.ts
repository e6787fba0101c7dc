import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { describeLanguages } from '../support/languages';
import { SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';

const HEARTBEAT_SECONDS = 6;
/**
 * The least that a node blocks, which stands for the half minute that it may well take. What must not happen would happen at the first
 * lapse of the heartbeat, so more of it shows nothing more.
 */
const BLOCK_MS = 2 * HEARTBEAT_SECONDS * 1000;
const THREADS = 2;

/** Graph code runs in threads of its own, so it can block no event loop but its own. */
describeLanguages('a node in $language that blocks its event loop', ({ graphs }) => {
  let gantry: Gantry;
  let client: Client;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-block-'));
    gantry = await startGantry({
      graphs,
      env: {
        GANTRY_HEARTBEAT_TIMEOUT_SECONDS: String(HEARTBEAT_SECONDS),
        GANTRY_GRAPH_THREADS_MAX: String(THREADS),
      },
    });
    client = gantry.client();
    // The first run of a worker also pays for the loading of what graphs need.
    await client.runs.wait(null, 'three', { input: {} });
  });

  afterAll(async () => {
    await gantry?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a run whose node blocks until the file of this name exists. */
  async function startBlocking(
    file: string,
    busy: boolean,
    more: object = {},
  ): Promise<{ thread: string; run: string }> {
    const { thread_id: thread } = await client.threads.create();
    const input = { block_ms: BLOCK_MS, busy, until_file: join(folder, file), ...more };
    const { run_id: run } = await client.runs.create(thread, 'block', { input });
    await waitFor('the node to block', async () => (await gantry.ledger.of(run)).length > 0);
    return { thread, run };
  }

  const release = (file: string): void => writeFileSync(join(folder, file), '');

  const isBlocking = async (run: string): Promise<boolean> => (await gantry.ledger.of(run))[0].ended_at === null;

  it('delays neither its heartbeat, nor other runs, nor their streams', async () => {
    const { thread, run } = await startBlocking('first', true);

    // A delayed request would wait for the node, which ends only afterwards.
    expect(await client.runs.wait(null, 'three', { input: {} })).toMatchObject({ done: expect.any(Array) });
    const stream = await SseReader.post(`${gantry.url}/runs/stream`, {
      assistant_id: 'talk',
      input: { messages: [{ role: 'user', content: 'count' }] },
      stream_mode: 'messages-tuple',
    });
    expect((await stream.rest()).filter(({ event }) => event === 'messages').length).toBeGreaterThan(20);
    // Reads of states need the graph's code, and not the worker.
    expect(await client.threads.getState(thread)).toMatchObject({ next: ['spin'] });
    expect(await client.assistants.getSchemas('block')).toMatchObject({ graph_id: 'block' });
    expect(await isBlocking(run)).toBe(true);
    release('first');

    const result = (await client.runs.join(thread, run)) as unknown as { blocked_ms: number };
    expect(result.blocked_ms).toBeGreaterThanOrEqual(BLOCK_MS);
    const executions = await gantry.ledger.of(run);
    expect(executions.map(({ attempt }) => attempt)).toEqual([1]);
    const { rows } = await gantry.sql.query<{ attempt: number; status: string }>(
      'SELECT attempt, status FROM runs WHERE run_id = $1',
      [run],
    );
    expect(rows).toEqual([{ attempt: 1, status: 'success' }]);
  });

  it('and as many of them as there are threads leave room for others', async () => {
    const blocking = await Promise.all(Array.from({ length: THREADS }, () => startBlocking('several', false)));
    // A third thread is started for it, since those that are blocked don't count.
    await client.runs.wait(null, 'three', { input: {} });
    for (const { run } of blocking) expect(await isBlocking(run)).toBe(true);
    release('several');
    for (const { thread, run } of blocking) {
      await client.runs.join(thread, run);
      expect((await gantry.ledger.of(run)).map(({ attempt }) => attempt)).toEqual([1]);
    }
  });

  it('ends when it is cancelled and returns control', async () => {
    const { thread, run } = await startBlocking('cancelled', true, { linger_ms: 600_000 });
    await client.runs.cancel(thread, run);
    release('cancelled');
    await client.runs.join(thread, run);
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'interrupted' });
    expect(await client.threads.get(thread)).toMatchObject({ status: expect.stringMatching(/idle|interrupted/) });
  });
});
