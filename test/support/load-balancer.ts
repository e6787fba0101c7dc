import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const PROBE_MS = 100;

/**
 * A load balancer: it asks each replica for `/ready`, gives new connections to the first of those that say 200, and leaves
 * what is open where it is.
 */
export class LoadBalancer {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private ready: number[] = [];
  private probe: NodeJS.Timeout | undefined;

  /** @param ports of the replicas, all on this machine */
  constructor(private readonly ports: number[]) {
    this.server = createServer((client) => this.pass(client));
  }

  async start(): Promise<this> {
    await this.look();
    this.probe = setInterval(() => void this.look(), PROBE_MS);
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  isReady(port: number): boolean {
    return this.ready.includes(port);
  }

  async stop(): Promise<void> {
    clearInterval(this.probe);
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async look(): Promise<void> {
    const answers = await Promise.all(
      this.ports.map((port) =>
        fetch(`http://127.0.0.1:${port}/ready`).then(
          ({ status }) => status === 200,
          () => false,
        ),
      ),
    );
    this.ready = this.ports.filter((_, index) => answers[index]);
  }

  private pass(client: Socket): void {
    const [port] = this.ready;
    if (port === undefined) return void client.destroy();
    const replica = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [client, replica],
      [replica, client],
    ]) {
      this.sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => this.sockets.delete(socket));
      socket.pipe(other);
    }
  }
}
