import { streamLateResponse } from './late-response';

const after = <T>(ms: number, value: T): Promise<T> => new Promise((resolve) => setTimeout(resolve, ms, value));
const never = new AbortController().signal;

describe('an answer', () => {
  it('is sent as it is when it is quick', async () => {
    const response = Response.json({ a: 1 }, { status: 404 });
    expect(await streamLateResponse(Promise.resolve(response), 1_000, never)).toBe(response);
  });

  it('becomes an event preceded by keep-alive comments when it is late', async () => {
    const response = await streamLateResponse(after(80, Response.json({ a: 1 })), 20, never);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const text = await response.text();
    expect(text).toMatch(/^(: keepalive\n\n)+event: message\ndata: \{"a":1\}\n\n$/);
  });

  it('is passed through when it is late and a stream', async () => {
    const stream = new Response('data: 1\n\ndata: 2\n\n', { headers: { 'content-type': 'text/event-stream' } });
    const response = await streamLateResponse(after(50, stream), 20, never);
    expect((await response.text()).replaceAll(': keepalive\n\n', '')).toBe('data: 1\n\ndata: 2\n\n');
  });

  it('ends the stream with an error when it fails', async () => {
    const failing = after(50, undefined).then(() => Promise.reject(new Error('gone')));
    const response = await streamLateResponse(failing, 20, never);
    expect((await response.text()).replaceAll(': keepalive\n\n', '')).toBe('');
  });
});
