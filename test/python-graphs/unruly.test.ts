import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { type Gantry, startGantry } from '../support/gantry';
import { pythonForGraphs } from '../support/python';
import { waitFor } from '../support/wait-for';

interface State {
  seen?: unknown;
  done?: string[];
}

/** One process, in which runs do what others must not notice. */
describe('graphs in Python that share a process with unruly ones', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: join(__dirname, 'project', 'unruly.json'),
      graphProcesses: 1,
      env: { GANTRY_PYTHON: pythonForGraphs() },
    });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  const outcomeOf = async (run: string): Promise<unknown> =>
    (await gantry.sql.query('SELECT status, attempt, error FROM runs WHERE run_id = $1', [run])).rows[0];

  const seen = async (how: string): Promise<unknown> =>
    ((await client.runs.wait(null, 'unruly', { input: { how } })) as State).seen;

  it('continue, in their first attempt, while others leave the process or stop its event loop', async () => {
    const threads = await Promise.all([newThread(), newThread()]);
    const patient = await Promise.all(threads.map((thread) => client.runs.create(thread, 'patient', { input: {} })));
    for (const { run_id: run } of patient)
      await waitFor('its node', async () => (await gantry.ledger.of(run)).length > 0);
    for (const [how, error] of [
      ...['leave', 'leave_async', 'leave_nested'].map((how) => [how, 'SystemExit']),
      ...[
        ['press_keys', 'KeyboardInterrupt'],
        ['panic', 'Panic'],
      ],
    ]) {
      const thread = await newThread();
      const { run_id: run } = await client.runs.create(thread, 'unruly', { input: { how } });
      await client.runs.join(thread, run);
      expect(await outcomeOf(run)).toEqual({
        status: 'error',
        attempt: 1,
        error: { error, message: 'this agent gives up' },
      });
    }
    expect(await seen('stop_loop')).toBe('stopped');
    await client.runs.wait(null, 'opener', { input: {} });
    for (const [index, { run_id: run }] of patient.entries()) {
      expect(await client.runs.join(threads[index], run)).toMatchObject({ seen: 'open' });
      expect(await outcomeOf(run)).toEqual({ status: 'success', attempt: 1, error: null });
    }
  });

  it('keep infinite and large numbers, NaN and U+0000 in a state', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'values', { input: {} });
    const resumed = await client.runs.wait(thread, 'values', { command: { resume: 'yes' } });
    expect(resumed).toMatchObject({ seen: String.raw`(inf, nan, 'a\x00b', 4611686018427387905)` });
  });

  it('keep integers of more than 64 bits, and say so where one within another value can’t be stored', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'sums', { input: {} });
    const { run_id: run } = await client.runs.create(thread, 'sums', { command: { resume: 1 } });
    await client.runs.join(thread, run);
    const { seen } = (await client.threads.getState<State>(thread)).values;
    expect(seen).toEqual([String(3n * (2n ** 63n - 1n) + 1n), String(-(2n ** 70n))]);
    expect(await outcomeOf(run)).toMatchObject({
      ...{ status: 'error', attempt: 1 },
      error: { error: 'UnstorableValue', message: expect.stringContaining('integers must fit into 64 bits') as string },
    });
  });

  it('end the processes that they start', async () => {
    expect([await seen('end_program'), await seen('end_process')]).toEqual([-15, -15]);
  });

  it('use the store and other graphs from an event loop of their own', async () => {
    expect(await seen('use_own_loop')).toEqual([{ kept: true }, 'hello']);
  });

  it('emit what has no form in JSON by the name of its type', async () => {
    const emitted: unknown[] = [];
    const payload = { input: { how: 'emit' }, streamMode: 'custom' as const };
    for await (const { event, data } of client.runs.stream(null, 'unruly', payload)) {
      if (event !== 'metadata') emitted.push(data);
    }
    const large = `0x${(10n ** 5000n).toString(16)}`;
    expect(emitted).toEqual([{ number: 1 }, large, { deep: ['[Nameless]', 1] }, { '[Nameless]': 1 }, '[Unshown]']);
  });

  it('end with an error where the graph has no node at which their thread waits', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'values', { input: {} });
    for (const payload of [{ command: { resume: 'yes' } }, { input: null }]) {
      const { run_id: run } = await client.runs.create(thread, 'patient', payload);
      await client.runs.join(thread, run);
      expect(await outcomeOf(run)).toMatchObject({
        status: 'error',
        attempt: 1,
        error: { error: 'NodeNotFound', message: expect.stringContaining('The thread waits at "ask"') as string },
      });
    }
    const resumed = await client.runs.wait(thread, 'values', { command: { resume: 'yes' } });
    expect(resumed).toMatchObject({ how: 'yes' });
  });
});

/** Another process, whose gate is still closed. */
describe('a crowd of blocking nodes', () => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({
      graphs: join(__dirname, 'project', 'unruly.json'),
      graphProcesses: 1,
      env: { GANTRY_PYTHON: pythonForGraphs() },
    });
  });

  afterAll(() => gantry?.stop());

  it('holds up neither an async run nor its own nested graphs', async () => {
    const client = gantry.client();
    const states: State[] = [];
    const stream = client.runs.stream(null, 'crowd', { input: {}, streamMode: ['custom', 'values'] });
    for await (const { event, data } of stream) {
      if (event === 'custom') await client.runs.wait(null, 'opener', { input: {} });
      if (event === 'values') states.push(data as State);
    }
    expect(states.at(-1)!.done).toEqual(Array(100).fill('hello'));
  });
});
