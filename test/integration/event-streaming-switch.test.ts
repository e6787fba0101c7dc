import type { Client } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { temporaryConfig, type TemporaryConfig } from '../support/langgraph-json';
import { SseReader } from '../support/sse';

const TOKENS = 'one two three four five six seven eight nine ten';
const input = { messages: [{ role: 'user', content: 'hi' }] };

describe('http.disable_event_streaming', () => {
  let config: TemporaryConfig;
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    config = temporaryConfig({ http: { disable_event_streaming: true } });
    gantry = await startGantry({ graphProcesses: 1, graphs: config.path });
    client = gantry.client();
  });

  afterAll(async () => {
    await gantry?.stop();
    config?.remove();
  });

  const createThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  it.each([
    ['commands', { id: 1, method: 'run.start', params: { assistant_id: 'talk', input } }],
    ['stream/events', { channels: ['values', 'lifecycle'] }],
  ])('removes %s, as if it had never existed', async (path, body) => {
    const thread = await createThread();
    const response = await fetch(`${gantry.url}/threads/${thread}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect([response.status, await response.text()]).toEqual([404, 'Not Found']);
    expect(await client.runs.list(thread)).toEqual([]);
    const { paths } = (await (await fetch(`${gantry.url}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(paths)).not.toContain(`/threads/{thread_id}/${path}`);
    expect(Object.keys(paths)).toContain('/threads/{thread_id}/stream');
  });

  it('is reported to the newest client', async () => {
    const thread = client.threads.stream({ assistantId: 'talk' });
    await expect(thread.run.start({ input })).rejects.toThrow(/404/);
    await thread.close();
  });

  it('leaves the streams of runs and of threads unchanged, token by token', async () => {
    const thread = await createThread();
    const listening = await SseReader.get(`${gantry.url}/threads/${thread}/stream`);
    const run = await SseReader.post(`${gantry.url}/threads/${thread}/runs/stream`, {
      assistant_id: 'talk',
      input,
      stream_mode: ['messages-tuple', 'values'],
    });
    const events = await run.rest();
    const tokens = events.filter(({ event }) => event === 'messages').map(({ data }) => (data as [Token])[0]);
    const text = tokens.filter(({ type }) => type === 'AIMessageChunk').map(({ content }) => content);
    expect(text.length).toBeGreaterThan(5);
    expect(text.join('')).toBe(TOKENS);

    const emitted = await listening.until(({ data }) => (data as { status?: string }).status === 'run_done');
    await listening.close();
    expect(emitted.slice(0, -1).map(({ event, data }) => [event, data])).toEqual(
      events.map(({ event, data }) => [event, data]),
    );
  });
});

interface Token {
  type: string;
  content: string;
}
