import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { isJsonObject } from '../database/json';
import { atMost, LATE } from '../time/at-most';

/** Types that the SDK requires every client to accept. */
export const BOTH_TYPES = 'application/json, text/event-stream';

/** Whether a client says that it reads event streams; `*` for any type says nothing of the kind. */
export const readsEvents = ({ headers }: Request): boolean => /text\/event-stream/i.test(headers.get('accept') ?? '');

/**
 * The answer for a client that reads no event streams: of a stream its results alone, as JSON. What takes long begins with white
 * space now and then, so that proxies don't take silence for the end.
 * @param asked the request's message, or its batch
 */
export async function answerInJson(answer: Promise<Response>, asked: unknown, beatMs: number): Promise<Response> {
  const text = answer.then((response) => (isEventStream(response) ? resultsOf(response, asked) : undefined));
  const quick = await atMost(beatMs, text);
  if (quick === undefined) return answer;
  const headers = { 'content-type': 'application/json' };
  if (quick !== LATE) return new Response(quick, { headers });
  const whole = text.then(async (results) => results ?? (await answer).text());
  return new Response(withBeats(whole, beatMs), { headers });
}

const isEventStream = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/event-stream') === true;

/** The results in a stream of events, or what is to be said where the client is asked in it. */
async function resultsOf(response: Response, asked: unknown): Promise<string> {
  const results: unknown[] = [];
  const input = Readable.fromWeb(response.body!);
  try {
    for await (const line of createInterface({ input })) {
      if (!line.startsWith('data: {')) continue;
      const message = JSON.parse(line.slice('data: '.length)) as Record<string, unknown>;
      if ('result' in message || 'error' in message) results.push(message);
      else if ('id' in message) results.push(unasked(asked));
      if (results.length === countOf(asked)) break;
    }
  } finally {
    // Cancels the stream: an error after its last result would have no listener, and end the process.
    input.destroy();
  }
  return JSON.stringify(Array.isArray(asked) ? results : results[0]);
}

const countOf = (asked: unknown): number =>
  Array.isArray(asked) ? asked.filter((message) => isJsonObject(message) && 'id' in message).length : 1;

function unasked(asked: unknown): unknown {
  const message = 'Not Acceptable: the agent asks, which needs a client that accepts text/event-stream';
  return { jsonrpc: '2.0', id: isJsonObject(asked) ? asked.id : null, error: { code: -32_000, message } };
}

function withBeats(text: Promise<string>, beatMs: number): globalThis.ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let beating: NodeJS.Timeout | undefined;
  return new globalThis.ReadableStream<Uint8Array>({
    start: async (controller) => {
      const beat = encoder.encode('\n');
      controller.enqueue(beat);
      beating = setInterval(() => controller.enqueue(beat), beatMs);
      try {
        const whole = await text;
        controller.enqueue(encoder.encode(whole));
      } finally {
        clearInterval(beating);
      }
      controller.close();
    },
    cancel: () => clearInterval(beating),
  });
}
