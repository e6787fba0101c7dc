import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';

/** Headers of one connection, which is another one here, and the length of a body, which middleware may change. */
const NOT_PASSED_ON = new Set([
  'content-length',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

export interface InnerRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: Headers;
  body: ReadableStream | Uint8Array | null;
  signal?: AbortSignal;
}

/** Sends a request to the API over its Unix socket (inner-api.ts); bodies stream in both directions. */
export async function fetchInner(
  socketPath: string,
  { method, path, headers, body, signal }: InnerRequest,
): Promise<Response> {
  const content = body instanceof Uint8Array || body === null ? body : await startOf(body);
  return new Promise((resolve, reject) => {
    const sent = Object.fromEntries([...headers].filter(([name]) => !NOT_PASSED_ON.has(name)));
    if (content instanceof Uint8Array) sent['content-length'] = String(content.byteLength);
    // Node frames a body of unknown length by itself for some methods only, and not for DELETE.
    else if (content !== null) sent['transfer-encoding'] = 'chunked';
    const call = httpRequest({ socketPath, method, path, headers: sent, agent: false, signal }, (response) =>
      resolve(toResponse(response)),
    );
    call.once('error', reject);
    if (content === null || content instanceof Uint8Array) call.end(content ?? undefined);
    else pipeline(content, call).catch(reject);
  });
}

/**
 * Waits for the first bytes of a body. A request without a body may have a stream as well, which ends at once: sent on as a
 * body, it would be one without a type, which the API refuses.
 */
async function startOf(body: ReadableStream): Promise<AsyncIterable<Uint8Array> | null> {
  const stream = Readable.fromWeb(body);
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterableIterator<Uint8Array>;
  const first = await chunks.next();
  if (first.done) return null;
  return (async function* () {
    try {
      yield first.value;
      yield* chunks;
    } finally {
      stream.destroy();
    }
  })();
}

function toResponse(response: IncomingMessage): Response {
  const headers = new Headers();
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    const name = response.rawHeaders[index];
    if (!NOT_PASSED_ON.has(name.toLowerCase())) headers.append(name, response.rawHeaders[index + 1]);
  }
  const status = response.statusCode!;
  if (WITHOUT_BODY.has(status)) {
    response.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(response) as globalThis.ReadableStream, { status, headers });
}
