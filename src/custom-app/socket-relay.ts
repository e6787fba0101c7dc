import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { FastifyReply } from 'fastify';
import { WebSocket } from 'ws';
import type { ApiError } from '../http/api-error';
import { SocketStream } from '../http/socket-stream';
import { acceptWebSocket, CLOSE_TIMEOUT_MS, INTERNAL_ERROR } from '../http/web-sockets';

/** Headers of one connection, and of its handshake, which the library writes itself. */
const NOT_PASSED_ON =
  /^(?:connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|sec-websocket-(?!protocol$).*)$/;
/** The same of an answer that accepts, which has no body, and whose subprotocol is passed on by itself. */
const NOT_ACCEPTED_WITH = /^(?:date|server|content-.+|sec-websocket-protocol)$/;
/** Close codes that stand for the absence of one, and are never sent (RFC 6455, section 7.4.1). */
const NO_CODE = 1005;
const BROKEN_OFF = 1006;

export interface SocketTarget {
  /** Unix socket of the app. */
  socketPath: string;
  target: string;
  headers: OutgoingHttpHeaders;
}

/**
 * Passes an admitted handshake to the app, and messages in both directions once the app has accepted it. The app chooses the
 * subprotocol, and may set cookies and other headers. When one side closes, the other is closed with the same code.
 * @throws {ApiError} `unavailable` when the app does not answer
 */
export async function relaySocket(reply: FastifyReply, app: SocketTarget, unavailable: () => ApiError): Promise<void> {
  const { socket: connection } = reply.request.raw;
  // The client has left while its handshake was checked.
  if (connection.destroyed) return;
  const upstream = openUpstream(app);
  const abandon = (): void => upstream.terminate();
  connection.once('close', abandon);
  const answer = await answerOf(upstream);
  if (answer === undefined) throw unavailable();
  if (answer.statusCode !== 101) {
    void reply.code(answer.statusCode!).headers(passedOn(answer.headers)).send(answer);
    return;
  }
  acceptWebSocket(
    reply,
    (client) => {
      connection.off('close', abandon);
      join(client, upstream, reply);
    },
    { subprotocol: answer.subprotocol ?? false, headers: acceptedWith(answer) },
  );
}

function openUpstream({ socketPath, target, headers }: SocketTarget): WebSocket {
  const options = {
    createConnection: () => connect(socketPath),
    headers: passedOn(headers),
    perMessageDeflate: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
  };
  return new WebSocket(`ws://localhost${target}`, options);
}

function passedOn<T extends IncomingHttpHeaders | OutgoingHttpHeaders>(headers: T): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => value !== undefined && !NOT_PASSED_ON.test(name)),
  ) as Record<string, string>;
}

/** The headers of an answer that accepts, as lines: each of several cookies has its own. */
function acceptedWith({ rawHeaders }: IncomingMessage): string[] {
  const lines: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name, value] = rawHeaders.slice(index, index + 2);
    const isPassedOn = [NOT_PASSED_ON, NOT_ACCEPTED_WITH].every((names) => !names.test(name.toLowerCase()));
    if (isPassedOn) lines.push(`${name}: ${value}`);
  }
  return lines;
}

/** The app's answer to the handshake; undefined if there is none. The socket is paused when it is open. */
function answerOf(upstream: WebSocket): Promise<(IncomingMessage & { subprotocol?: string }) | undefined> {
  return new Promise((resolve) => {
    let answer: IncomingMessage & { subprotocol?: string };
    upstream.once('upgrade', (response) => {
      answer = response;
      answer.subprotocol = response.headers['sec-websocket-protocol'];
      // What was offered is known to the client's side alone, which is where the choice is checked.
      delete response.headers['sec-websocket-protocol'];
    });
    upstream.once('open', () => {
      upstream.pause();
      resolve(answer);
    });
    upstream.once('unexpected-response', (_request, response) => resolve(response));
    // The socket is closed after an error, which is all that matters here.
    upstream.on('error', () => resolve(undefined));
  });
}

function join(client: WebSocket, upstream: WebSocket, { request }: FastifyReply): void {
  let written: Promise<void> = Promise.resolve();
  // Before the stream's own listener, which holds the client back until what was last sent is written.
  client.on('message', (message: Buffer, isBinary: boolean) => {
    written = send(upstream, message, isBinary);
  });
  const stream = new SocketStream(client, request, () => written);
  let unwritten = 0;
  upstream.on('message', (message: Buffer, isBinary: boolean) => {
    unwritten += 1;
    upstream.pause();
    void send(client, message, isBinary).then(() => {
      unwritten -= 1;
      if (unwritten === 0) upstream.resume();
    });
  });
  client.once('close', (code, reason) => {
    // No longer held back by a client that reads nothing.
    upstream.resume();
    if (code === BROKEN_OFF) upstream.terminate();
    else upstream.close(code === NO_CODE ? undefined : code, reason);
  });
  upstream.once('close', (code, reason) => {
    if (code === NO_CODE) stream.close();
    else if (code === BROKEN_OFF) stream.close(INTERNAL_ERROR, 'The app has ended the connection');
    else stream.close(code, reason.toString());
  });
  upstream.resume();
}

/** Resolves when the message is written to the connection, or the connection is closed. */
function send(socket: WebSocket, message: Buffer, isBinary: boolean): Promise<void> {
  return new Promise((resolve) => socket.send(message, { binary: isBinary }, () => resolve()));
}
