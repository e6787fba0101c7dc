import { IncomingMessage, ServerResponse } from 'node:http';
import { testStore } from './exports';
import { FaultProxy } from './fault-proxy';

const ANSWERS = {
  deny: [403, 'AccessDenied', 'Access Denied'],
  error: [500, 'InternalError', 'We encountered an internal error'],
  'slow down': [503, 'SlowDown', 'Please reduce your request rate'],
  expired: [400, 'ExpiredToken', 'The provided token has expired'],
  unknown: [403, 'InvalidAccessKeyId', 'The key id does not exist'],
  skewed: [403, 'RequestTimeTooSkewed', 'The difference between the request time and the server time is too large'],
} as const;

/**
 * Treatment of a request instead of passing it to the store. `lose`: it is answered as if it had. `lose answer`: it
 * reaches the store, and the answer doesn't come back. `hang`: nothing ever comes back.
 */
export type Fault = keyof typeof ANSWERS | 'reset' | 'reset halfway' | 'hang' | 'lose' | 'lose answer';

/** A proxy in front of the test run's S3 gateway. */
export class S3Proxy extends FaultProxy {
  /** Called for each request: a fault, or undefined to let it through. A promise holds it back. */
  fault: (request: IncomingMessage) => Fault | undefined | Promise<Fault | undefined> = () => undefined;
  readonly seen: { method: string; url: string; headers: IncomingMessage['headers'] }[] = [];

  protected async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.seen.push({ method: incoming.method ?? '', url: incoming.url ?? '', headers: incoming.headers });
    const fault = await this.fault(incoming);
    switch (fault) {
      case undefined:
      case 'lose answer':
        return this.forward(incoming, outgoing, gateway(), { losesAnswer: fault === 'lose answer' });
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
}

function gateway(): { host: string; port: string } {
  const { hostname: host, port } = new URL(testStore().endpoint);
  return { host, port };
}
