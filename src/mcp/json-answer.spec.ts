import { answerInJson, readsEvents } from './json-answer';

const asked = { jsonrpc: '2.0', id: 7, method: 'tools/call' };
const events = (...messages: object[]): Response =>
  new Response(messages.map((message) => `event: message\nid: x\ndata: ${JSON.stringify(message)}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });

describe('an answer for a client that reads no event streams', () => {
  it.each([
    ['application/json, text/event-stream', true],
    ['text/event-stream', true],
    ['application/json', false],
    ['*/*', false],
    ['', false],
  ])('is chosen for Accept %s: %s', (accept, reads) => {
    expect(readsEvents(new Request('http://localhost', { headers: { accept } }))).toBe(reads);
  });

  it('is the result in the stream, without what precedes it', async () => {
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: {} };
    const result = { jsonrpc: '2.0', id: 7, result: { content: [] } };
    const response = await answerInJson(Promise.resolve(events(progress, result)), asked, 1_000);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual(result);
    const batch = await answerInJson(Promise.resolve(events(result)), [asked], 1_000);
    expect(await batch.json()).toEqual([result]);
  });

  it('leaves a stream after its last result, and survives what becomes of it', async () => {
    let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
    const cancelled = jest.fn();
    const result = { jsonrpc: '2.0', id: 7, result: {} };
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        stream = controller;
        controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(result)}\n`));
      },
      cancel: cancelled,
    });
    const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    expect(await (await answerInJson(Promise.resolve(response), asked, 1_000)).json()).toEqual(result);
    stream!.error(new Error('The call has failed after its result'));
    // An error without a listener would end the process in this turn.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(cancelled).toHaveBeenCalledTimes(1);
  });

  it('passes JSON through unchanged', async () => {
    const plain = Response.json({ a: 1 }, { status: 400 });
    expect(await answerInJson(Promise.resolve(plain), asked, 1_000)).toBe(plain);
  });

  it('reports that the client cannot be asked', async () => {
    const question = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create' };
    const response = await answerInJson(Promise.resolve(events(question)), asked, 1_000);
    expect(await response.json()).toMatchObject({
      id: 7,
      error: { message: expect.stringContaining('the agent asks') },
    });
  });

  it('begins with white space when it takes long', async () => {
    const result = { jsonrpc: '2.0', id: 7, result: {} };
    const late = new Promise<Response>((resolve) => setTimeout(() => resolve(events(result)), 50));
    const text = await (await answerInJson(late, asked, 10)).text();
    expect(text).toMatch(/^\n+\{/);
    expect(JSON.parse(text)).toEqual(result);
  });
});
