import { once } from 'node:events';
import WebSocket, { type ClientOptions } from 'ws';
import { waitFor } from './wait-for';

export interface SocketEvent {
  type: 'event';
  event_id: string;
  seq: number;
  method: string;
  params: { namespace: string[]; timestamp: number; node?: string; data: Record<string, unknown> };
}

export interface SocketReply {
  type: 'success' | 'error';
  id: number | null;
  result?: Record<string, unknown>;
  error?: string;
  message?: string;
  meta?: Record<string, unknown>;
}

export const socketUrl = (url: string, thread: string): string =>
  `${url.replace(/^http/, 'ws')}/threads/${thread}/stream/events`;

/** The answer to a refused handshake. */
export async function refusalOf(
  url: string,
  options: ClientOptions = {},
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
  const socket = new WebSocket(url, options);
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      socket.terminate();
      reject(new Error('The handshake was not refused'));
    });
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.once('end', () => resolve({ status: response.statusCode!, text, headers: response.headers }));
    });
  });
}

/** The event protocol on a WebSocket, without a client's help: what comes, in the order in which it comes. */
export class ThreadSocket {
  /** Replies and events. */
  readonly received: (SocketReply | SocketEvent)[] = [];
  private lastId = 0;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (message: Buffer) => {
      this.received.push(JSON.parse(message.toString()) as SocketReply | SocketEvent);
    });
    socket.on('error', () => undefined);
  }

  static async open(url: string, options: ClientOptions = {}): Promise<ThreadSocket> {
    const socket = new WebSocket(url, options);
    await once(socket, 'open');
    return new ThreadSocket(socket);
  }

  get events(): SocketEvent[] {
    return this.received.filter((each): each is SocketEvent => each.type === 'event');
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  /** Sends the command unchanged, and resolves to the next reply with its id. */
  async say(message: string | Buffer, id: number | null = null): Promise<SocketReply> {
    const from = this.received.length;
    this.socket.send(message);
    return this.find((each): each is SocketReply => each.type !== 'event' && each.id === id, from);
  }

  command(method: string, params: unknown = {}): Promise<SocketReply> {
    const id = (this.lastId += 1);
    return this.say(JSON.stringify({ id, method, params }), id);
  }

  /** @returns the id of the subscription */
  async subscribe(params: object): Promise<string> {
    const { result, message } = await this.command('subscription.subscribe', params);
    if (!result) throw new Error(message);
    return String(result.subscription_id);
  }

  /** Resolves to all events so far once one of them matches. */
  async until(isFound: (event: SocketEvent) => boolean): Promise<SocketEvent[]> {
    await this.find((each): each is SocketEvent => each.type === 'event' && isFound(each));
    return this.events;
  }

  async close(): Promise<void> {
    this.socket.close();
    await waitFor('the socket to close', () => this.socket.readyState === WebSocket.CLOSED);
  }

  private find<T extends SocketReply | SocketEvent>(
    isFound: (each: SocketReply | SocketEvent) => each is T,
    from = 0,
  ): Promise<T> {
    return waitFor('a message', () => {
      const found = this.received.slice(from).find(isFound);
      if (!found && !this.isOpen) throw new Error(`The socket was closed before: ${JSON.stringify(this.received)}`);
      return found;
    });
  }
}
