import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Command, Send } from '@langchain/langgraph';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { type Gantry, startGantry } from '../support/gantry';

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'remote.json');
const human = (content: string) => ({ messages: [{ type: 'human', content }] });

interface Chat {
  messages: { content: string }[];
}

/** `RemoteGraph` of JavaScript's LangGraph, which sends commands and configs in forms of its own. */
describe('RemoteGraph', () => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({ graphs: GRAPHS, graphProcesses: 1 });
  });

  afterAll(() => gantry?.stop());

  const remoteOf = (graphId: string): RemoteGraph => new RemoteGraph({ graphId, url: gantry.url });
  const onThread = () => ({ configurable: { thread_id: randomUUID() } });
  const textsOf = (output: unknown): string[] => (output as Chat).messages.map(({ content }) => content);

  it.each([
    ['one', (send: Send) => send],
    ['a list', (send: Send) => [send]],
  ])('passes the arguments of a Send on, as %s', async (_, gotoOf) => {
    const { thread_id } = await gantry.client().threads.create();
    const goto = gotoOf(new Send('echo', human('sent')));
    const output: unknown = await remoteOf('echo').invoke(new Command({ goto }), { configurable: { thread_id } });
    expect(textsOf(output)).toEqual(['"sent"']);
  });

  it('answers a question by a command that begins an event stream', async () => {
    const desk = remoteOf('desk');
    const config = onThread();
    await expect(desk.invoke(human('refund'), config)).rejects.toThrow('Approve?');
    const run = await desk.streamEvents(new Command({ resume: 'yes' }), { version: 'v3', ...config });
    const { runs } = gantry.client();
    const { thread_id } = config.configurable;
    const [{ run_id }] = await runs.list(thread_id);
    expect(await runs.join(thread_id, run_id)).toMatchObject({ approved: true });
    run.abort();
  });

  it('refuses a wrong command of an event stream with the field named', async () => {
    const command = { lg_name: 'Command', goto: 5 };
    const params = { assistant_id: 'desk', input: command };
    const response = await fetch(`${gantry.url}/threads/${randomUUID()}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 1, method: 'run.start', params }),
    });
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: 'invalid_argument',
      message: expect.stringContaining('goto') as string,
    });
  });

  it.each([
    ['context', (values: Record<string, unknown>) => ({ context: values })],
    ['configurable', (values: Record<string, unknown>) => ({ config: { configurable: values } })],
  ])('passes a hosted graph’s config on, over two calls, whose values came as %s', async (_, given) => {
    const values = { peer: gantry.url, mood: 'fine' };
    const client = gantry.client({ headers: { 'x-team': 'support' } });
    const output = await client.runs.wait(null, 'relay', { input: { hops: 2 }, ...given(values) });
    expect(output).toMatchObject({ seen: { configurable: 'fine', context: 'fine' } });
  });
});
