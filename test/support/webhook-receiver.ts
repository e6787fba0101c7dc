import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

export type Behaviour = (response: ServerResponse, request: Received, count: number) => void;

/** A real HTTP receiver on loopback. Each answer is decided per request; requests are kept. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  connections = 0;
  private server: Server | undefined;
  private port = 0;

  constructor(
    private readonly behave: Behaviour = (response) => response.end('ok'),
    private readonly host = '127.0.0.1',
  ) {}

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        const received = { path: request.url ?? '', headers: request.headers, body, at: Date.now() };
        this.received.push(received);
        response.on('error', () => undefined);
        this.behave(response, received, this.received.length);
      });
    });
    server.on('connection', () => (this.connections += 1));
    await new Promise<void>((resolve) => server.listen(this.port, this.host, resolve));
    // A restarted receiver keeps its port.
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
    return this;
  }

  /** Works before the start too, once a port was given. */
  url(path = '/hook'): string {
    return `http://${this.host}:${this.port}${path}`;
  }

  get hostAndPort(): string {
    return `${this.host}:${this.port}`;
  }

  async stop(): Promise<void> {
    const { server } = this;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
