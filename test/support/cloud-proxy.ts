import { IncomingMessage, ServerResponse } from 'node:http';
import { FaultProxy } from './fault-proxy';

/** An answer of the proxy in place of the store's. */
export interface ProxyAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** A proxy in front of an emulator. */
export class CloudProxy extends FaultProxy {
  /** Called for each request: an answer in its place, `reset` to break the connection, undefined to let it through. */
  fault: (incoming: IncomingMessage) => ProxyAnswer | 'reset' | undefined | Promise<ProxyAnswer | 'reset' | undefined> =
    () => undefined;

  /** @param check called first, for each request: refuses what the emulator itself doesn't look at */
  constructor(
    private readonly port: number,
    private readonly check: (incoming: IncomingMessage) => ProxyAnswer | undefined = () => undefined,
  ) {
    super();
  }

  protected async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const instead = this.check(incoming) ?? (await this.fault(incoming));
    if (instead === 'reset') return void incoming.socket.destroy();
    if (instead) {
      const { status, headers, body } = instead;
      return void incoming.resume().once('end', () => outgoing.writeHead(status, headers).end(body));
    }
    this.forward(incoming, outgoing, { host: '127.0.0.1', port: this.port });
  }
}
