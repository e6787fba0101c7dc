import type { FastifyReply } from 'fastify';
import { OpenAnswer } from './open-answer';
import type { OpenStream } from './open-streams';

/** Heartbeat of a stream, as both SDKs expect it: proxies and clients give up on a silent connection. */
export const HEARTBEAT_MS = 5_000;

/**
 * A response that is written in pieces. Takes the reply over from the framework, with the headers that hooks and CORS have set
 * so far, reports when the client disconnects, and writes at the client's pace.
 */
export class StreamingResponse extends OpenAnswer {
  private readonly heartbeat: NodeJS.Timeout | undefined;

  constructor(
    reply: FastifyReply,
    contentType: string,
    headers: Record<string, string>,
    /** Written every five seconds. */
    beat: string,
    kind: OpenStream['kind'] = 'events',
  ) {
    super(reply, kind);
    reply.hijack();
    reply.request.answeredAfterMs = reply.elapsedTime;
    if (this.signal.aborted) return;
    const { raw } = reply;
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': contentType,
      'cache-control': 'no-store',
      // Switches off buffering in nginx.
      'x-accel-buffering': 'no',
      ...headers,
    });
    raw.flushHeaders();
    this.heartbeat = setInterval(() => this.beat(beat), HEARTBEAT_MS);
    this.signal.addEventListener('abort', () => clearInterval(this.heartbeat));
  }

  /** Resolves when the client's connection can take more, or is closed. */
  async write(text: string): Promise<void> {
    if (!this.signal.aborted && !this.reply.raw.write(text)) await this.drained();
  }

  /** An aborted answer is not ended. */
  end(text = ''): void {
    clearInterval(this.heartbeat);
    if (!this.signal.aborted) this.reply.raw.end(text);
  }

  private beat(text: string): void {
    const { raw } = this.reply;
    // After an error it is the filter of errors that cuts the connection.
    if (raw.writableEnded || raw.destroyed || raw.socket?.writableEnded) clearInterval(this.heartbeat);
    else raw.write(text);
  }
}

/** Server-sent events, in the framing that both SDKs read: event, data, id, empty line. */
export class SseResponse extends StreamingResponse {
  constructor(reply: FastifyReply, headers: Record<string, string>) {
    // Not followed by an empty line: clients would take that for the end of an event and report one without a name.
    super(reply, 'text/event-stream; charset=utf-8', headers, ': heartbeat\n');
  }
}

/**
 * Answers with the output of `frames`, until it ends or the client disconnects.
 * @param frames its signal is aborted when the client has disconnected
 */
export async function sendEvents(
  reply: FastifyReply,
  frames: (signal: AbortSignal) => AsyncIterable<string>,
): Promise<void> {
  const response = new SseResponse(reply, {});
  if (response.signal.aborted) return;
  for await (const text of frames(response.signal)) {
    if (response.signal.aborted) break;
    await response.write(text);
  }
  response.end();
}

/** `data` is one line of JSON text: JSON has no bare line breaks. */
export function sseFrame(event: string, data: string, id?: number | string): string {
  return `event: ${event}\ndata: ${data}\n${id === undefined ? '' : `id: ${id}\n`}\n`;
}

/** A JSON answer that may take hours: line breaks before it keep the connection alive, and parsers ignore them. */
export class LateJsonResponse extends StreamingResponse {
  constructor(reply: FastifyReply, headers: Record<string, string>) {
    super(reply, 'application/json; charset=utf-8', headers, '\n', 'wait');
  }
}
