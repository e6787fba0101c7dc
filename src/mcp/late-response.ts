import { atMost, LATE } from '../time/at-most';

const EVENT_STREAM = 'text/event-stream';

/**
 * An answer that takes longer than `afterMs` becomes a stream of events, with a comment in it now and then: proxies and clients
 * would close a silent connection. A quick answer is sent unchanged.
 */
export async function streamLateResponse(
  answer: Promise<Response>,
  afterMs: number,
  signal: AbortSignal,
): Promise<Response> {
  const quick = await atMost(afterMs, answer);
  if (quick !== LATE) return quick;
  const beat = new TextEncoder().encode(': keepalive\n\n');
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  // The client has left: the signal has informed the call already.
  const write = (bytes: Uint8Array): Promise<void> => writer.write(bytes).catch(() => undefined);
  const beating = setInterval(() => void write(beat), afterMs);
  signal.addEventListener('abort', () => clearInterval(beating), { once: true });
  void write(beat);
  void answer
    .then(async (response) => {
      for await (const bytes of eventsOf(response)) await write(bytes);
    })
    .finally(() => {
      clearInterval(beating);
      return writer.close();
    })
    .catch(() => undefined);
  return new Response(readable, {
    headers: { 'content-type': EVENT_STREAM, 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' },
  });
}

async function* eventsOf(response: Response): AsyncGenerator<Uint8Array> {
  if (response.headers.get('content-type')?.startsWith(EVENT_STREAM)) {
    if (response.body) yield* response.body as typeof response.body & AsyncIterable<Uint8Array>;
    return;
  }
  const text = await response.text();
  if (text !== '') yield new TextEncoder().encode(`event: message\ndata: ${text}\n\n`);
}
