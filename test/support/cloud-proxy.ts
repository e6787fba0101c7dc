import { createServer, IncomingMessage, request, Server, ServerResponse } from 'node:http';
import { AddressInfo } from 'node:net';

/** What a request is answered with in place of the store's answer. */
export interface ProxyAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** In front of an emulator. */
export class CloudProxy {
  /** Asked for each request: an answer in its place, `reset` to break the connection, undefined to let it through. */
  fault: (incoming: IncomingMessage) => ProxyAnswer | 'reset' | undefined | Promise<ProxyAnswer | 'reset' | undefined> =
    () => undefined;
  private readonly server: Server = createServer((incoming, outgoing) => void this.handle(incoming, outgoing));

  /** @param check asked first, and always: what the emulator itself doesn't look at */
  constructor(
    private readonly port: number,
    private readonly check: (incoming: IncomingMessage) => ProxyAnswer | undefined = () => undefined,
  ) {}

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
    const instead = this.check(incoming) ?? (await this.fault(incoming));
    if (instead === 'reset') return void incoming.socket.destroy();
    if (instead) {
      const { status, headers, body } = instead;
      return void incoming.resume().once('end', () => outgoing.writeHead(status, headers).end(body));
    }
    const { method, url: path, headers } = incoming;
    const passed = request({ host: '127.0.0.1', port: this.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => incoming.socket.destroy());
    incoming.pipe(passed);
  }
}
