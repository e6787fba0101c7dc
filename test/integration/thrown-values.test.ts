import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { describeInBothLanguages } from '../support/languages';
import { waitFor } from '../support/wait-for';

const GRAPHS = join(__dirname, '../support/graphs/thrown-languages.json');

/** Whatever a graph throws is an error of its run, which no further attempt repeats. */
describe('graphs that throw anything', () => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ graphs: GRAPHS });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  async function start(graph: string, how: string): Promise<{ thread: string; run: string }> {
    const { thread_id: thread } = await client.threads.create();
    const { run_id: run } = await client.runs.create(thread, graph, { input: { how } });
    return { thread, run };
  }

  async function expectOneAttempt(graph: string, how: string): Promise<unknown> {
    const { thread, run } = await start(graph, how);
    await client.runs.join(thread, run);
    expect((await gantry.ledger.of(run)).map(({ attempt }) => attempt)).toEqual([1]);
    expect(await client.runs.get(thread, run)).toMatchObject({ status: 'error' });
    return (await client.threads.get(thread)).error;
  }

  describeInBothLanguages('in $language', ({ named }) => {
    it.each([
      ['a statement timeout', 'canceling statement'],
      ['a lost connection', expect.stringMatching(/connection/i)],
      ['a full pool', expect.stringContaining('connect')],
      ['an error of the same name', 'x'],
      ['no text', expect.stringContaining('has no text')],
      ['a circle of causes', 'circle'],
      ['what can not be sent', expect.any(String)],
    ])('%s', async (how, message) => {
      expect(await expectOneAttempt(named('thrown'), how)).toEqual({ error: expect.any(String), message });
    });

    it('a run whose graph is never made can be cancelled', async () => {
      const { thread, run } = await start(named('hung'), '');
      await waitFor('the run', async () => (await client.runs.get(thread, run)).status === 'running');
      await client.runs.cancel(thread, run, true);
      expect(await client.runs.get(thread, run)).toMatchObject({ status: 'interrupted' });
    });
  });

  it.each([
    ['a class as name', { error: 'Error', message: 'broken' }],
    ['an object as message', { error: 'Error', message: '[object Object]' }],
    ['the body of an answer', { error: 'Error', message: 'duplicate key' }],
    ['a body without a message', { error: 'Error', message: '{"code":"23505","hint":null}' }],
  ])('%s', async (how, error) => {
    expect(await expectOneAttempt('thrown', how)).toEqual(error);
  });

  it('an error of no node ends neither the run nor its process', async () => {
    const { thread, run } = await start('thrown', 'outside of the node');
    expect(await client.runs.join(thread, run)).toMatchObject({ passed: true });
    expect(await gantry.ledger.of(run)).toHaveLength(1);
  });
});
