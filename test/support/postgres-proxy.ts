import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Length of a client's question whether the server encrypts: what follows is its first message. */
const QUESTION_BYTES = 8;

/** Type and length of the message BackendKeyData. */
const KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12]);

/** Stands between clients and Postgres, which it can make unreachable for the connections of one application. */
export class PostgresProxy {
  private readonly server: Server = createServer((client) => this.accept(client));
  private readonly sockets = new Set<Socket>();
  /** First message of each client that is connected; it contains the name of the application. */
  private readonly startups = new Map<Socket, string>();
  private readonly servers = new Map<Socket, Socket>();
  private cutOff: string | undefined;
  private heldUp: string | undefined;
  /** Number of connections that were refused. */
  refused = 0;
  /** Whether clients are given other ids of their server processes, as by a pooler. */
  hidesProcesses = false;

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

  /** Breaks the connections of an application, and from now on refuses others. */
  cut(application: string): void {
    this.cutOff = application;
    for (const [client, startup] of this.startups) if (startup.includes(application)) client.destroy();
  }

  /** Breaks the connections of an application, and from now on leaves others without an answer. */
  hold(application: string): void {
    this.heldUp = application;
    for (const [client, startup] of this.startups) if (startup.includes(application)) client.destroy();
  }

  /** Resets the connections of an application, as a proxy does that was restarted; others are accepted. */
  reset(application: string): void {
    for (const [client, startup] of this.startups) if (startup.includes(application)) client.resetAndDestroy();
  }

  /** Forwards nothing more on the connections of an application, as a router does that has forgotten them; others are accepted. */
  silence(application: string): void {
    for (const [client, startup] of this.startups) {
      if (!startup.includes(application)) continue;
      this.servers.get(client)?.unpipe().pause();
      client.unpipe().pause();
    }
  }

  /** Accepts connections again. */
  repair(): void {
    this.cutOff = undefined;
    this.heldUp = undefined;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(client: Socket): void {
    this.keep(client).once('data', (message) => {
      if (message.length !== QUESTION_BYTES) return this.begin(client, message);
      client.once('data', (startup) => this.begin(client, startup)).write('N');
    });
  }

  private begin(client: Socket, message: Buffer): void {
    const startup = message.toString('latin1');
    if (this.cutOff !== undefined && startup.includes(this.cutOff)) {
      this.refused += 1;
      client.destroy();
      return;
    }
    if (this.heldUp !== undefined && startup.includes(this.heldUp)) return;
    this.startups.set(client, startup);
    const postgres = this.keep(connect(Number(this.target.port), this.target.hostname));
    this.servers.set(client, postgres);
    postgres.write(message);
    client.pipe(postgres);
    if (this.hidesProcesses) this.hideProcess(client, postgres);
    else postgres.pipe(client);
    client.once('close', () => {
      this.startups.delete(client);
      this.servers.delete(client);
      postgres.destroy();
    });
    postgres.once('close', () => client.destroy());
  }

  /** Changes the id in BackendKeyData, which the server sends once the client has logged in. */
  private hideProcess(client: Socket, postgres: Socket): void {
    const forward = (answer: Buffer): void => {
      const start = answer.indexOf(KEY_DATA);
      if (start >= 0) {
        const at = start + KEY_DATA.length;
        answer.writeInt32BE(answer.readInt32BE(at) + 1_000_000, at);
        postgres.off('data', forward).pipe(client);
      }
      client.write(answer);
    };
    postgres.on('data', forward);
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket);
    return socket.on('error', () => socket.destroy()).once('close', () => this.sockets.delete(socket));
  }
}
