import type { Server } from 'node:net';

type Connect = (request: object, address: string, port: number) => number;

/** Connections that this process begins. */
export class ConnectionWatch {
  private readonly spies: jest.SpyInstance<number, Parameters<Connect>>[];

  /** @param server any that listens: it leads to what all TCP connections of the process begin with */
  constructor(server: Server) {
    const handle = (server as unknown as { _handle: object })._handle;
    const tcp = Object.getPrototypeOf(handle) as { connect: Connect; connect6: Connect };
    this.spies = [jest.spyOn(tcp, 'connect'), jest.spyOn(tcp, 'connect6')];
  }

  /** Connections to certain ports since the last `forget`, whether they succeeded or not. */
  to(...ports: number[]): string[] {
    return this.spies
      .flatMap((spy) => spy.mock.calls)
      .filter(([, , to]) => ports.includes(to))
      .map(([, address, to]) => `${address} ${to}`);
  }

  forget(): void {
    for (const spy of this.spies) spy.mockClear();
  }

  stop(): void {
    for (const spy of this.spies) spy.mockRestore();
  }
}
