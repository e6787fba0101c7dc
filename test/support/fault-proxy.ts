import { createServer, IncomingMessage, request, Server, ServerResponse } from 'node:http';
import { AddressInfo } from 'node:net';

/** A proxy in front of a store, whose subclasses decide which requests reach it. */
export abstract class FaultProxy {
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

  protected abstract handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;

  /** Passes a request on with its own Host header, which is what its client has signed. */
  protected forward(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    target: { host: string; port: number | string },
    { losesAnswer = false } = {},
  ): void {
    const { method, url: path, headers } = incoming;
    const passed = request({ ...target, method, path, headers }, (answer) => {
      if (losesAnswer) return void answer.resume().once('end', () => incoming.socket.destroy());
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => incoming.socket.destroy());
    incoming.pipe(passed);
  }
}
