import { createServer, IncomingMessage, request, Server, ServerResponse } from 'node:http';
import { AddressInfo } from 'node:net';
import { testStore } from './exports';

const ANSWERS = {
  deny: [403, 'AccessDenied', 'Access Denied'],
  error: [500, 'InternalError', 'We encountered an internal error'],
  'slow down': [503, 'SlowDown', 'Please reduce your request rate'],
  expired: [400, 'ExpiredToken', 'The provided token has expired'],
  unknown: [403, 'InvalidAccessKeyId', 'The key id does not exist'],
  skewed: [403, 'RequestTimeTooSkewed', 'The difference between the request time and the server time is too large'],
} as const;

/**
 * What happens to a request instead of reaching the store. `lose`: it is answered as if it had. `lose answer`: it
 * reaches the store, and the answer doesn't come back. `hang`: nothing ever comes back.
 */
export type Fault = keyof typeof ANSWERS | 'reset' | 'reset halfway' | 'hang' | 'lose' | 'lose answer';

/** In front of the gateway of the test run. The Host header stays the client's own, which is what it has signed. */
export class S3Proxy {
  /** Asked for each request; undefined lets it through. A promise holds it back. */
  fault: (request: IncomingMessage) => Fault | undefined | Promise<Fault | undefined> = () => undefined;
  readonly seen: { method: string; url: string; headers: IncomingMessage['headers'] }[] = [];
  private readonly server: Server = createServer((incoming, outgoing) => void this.handle(incoming, outgoing));

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.seen.push({ method: incoming.method ?? '', url: incoming.url ?? '', headers: incoming.headers });
    const fault = await this.fault(incoming);
    switch (fault) {
      case undefined:
      case 'lose answer':
        return this.forward(incoming, outgoing, fault === undefined);
      case 'reset':
        return void incoming.socket.destroy();
      case 'reset halfway':
        return void incoming.once('data', () => incoming.socket.destroy()).once('end', () => incoming.socket.destroy());
      case 'hang':
        return void incoming.resume();
      case 'lose':
        return void incoming.resume().once('end', () => outgoing.writeHead(200, { etag: '"lost"' }).end());
      default: {
        const [status, code, message] = ANSWERS[fault];
        const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
        incoming.resume().once('end', () => {
          outgoing.writeHead(status, { 'content-type': 'application/xml' }).end(incoming.method === 'HEAD' ? '' : body);
        });
      }
    }
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse, isAnswered: boolean): void {
    const { hostname: host, port } = new URL(testStore().endpoint);
    const { method, url: path, headers } = incoming;
    const passed = request({ host, port, method, path, headers }, (answer) => {
      if (!isAnswered) return void answer.resume().once('end', () => incoming.socket.destroy());
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => incoming.socket.destroy());
    incoming.pipe(passed);
  }
}
