import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Length of a client's question whether the server encrypts: what follows is its first message. */
const QUESTION_BYTES = 8;

/** Stands between clients and Postgres, which it can make unreachable. */
export class PostgresProxy {
  private readonly server: Server = createServer((client) => this.accept(client));
  private readonly sockets = new Set<Socket>();
  private isCut = false;
  /** First messages of the clients that were refused; they contain the name of the application. */
  private refused: string[] = [];

  private constructor(private readonly target: URL) {}

  /** @param url of the database */
  static async start(url: string): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(new URL(url));
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** URL of the database through the proxy. */
  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return Object.assign(new URL(this.target), { hostname: '127.0.0.1', port: String(port) }).href;
  }

  /** Breaks all connections, and from now on refuses others. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  /** Accepts connections again. */
  repair(): void {
    this.isCut = false;
  }

  hasRefused(application: string): boolean {
    return this.refused.some((message) => message.includes(application));
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(client: Socket): void {
    this.keep(client);
    if (this.isCut) return void client.on('data', (message) => this.refuse(client, message));
    const postgres = this.keep(connect(Number(this.target.port), this.target.hostname));
    client.pipe(postgres).pipe(client);
    client.once('close', () => postgres.destroy());
    postgres.once('close', () => client.destroy());
  }

  private refuse(client: Socket, message: Buffer): void {
    if (message.length === QUESTION_BYTES) return void client.write('N');
    this.refused.push(message.toString('latin1'));
    client.destroy();
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket);
    return socket.on('error', () => socket.destroy()).once('close', () => this.sockets.delete(socket));
  }
}
