import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { Client } from 'pg';
import { AppConfig } from '../config/config';
import { KEEP_ALIVE } from './silent-connections';

type Listener = (payload: string) => void;

const RECONNECT_DELAY_MS = 500;

/**
 * One LISTEN connection for the whole process, shared by every subscriber. A notification is only a hint: while the connection
 * is being rebuilt hints are lost, so every subscriber must also query the database now and then.
 */
@Injectable()
export class Notifications implements OnModuleDestroy {
  private readonly logger = new Logger(Notifications.name);
  private readonly listeners = new Map<string, Set<Listener>>();
  private client: Client | undefined;
  private connecting: Promise<void> | undefined;
  /** End of the last `LISTEN` that was asked for: the driver wants one statement at a time. */
  private listening: Promise<unknown> = Promise.resolve();
  private closed = false;

  constructor(private readonly config: AppConfig) {}

  /** Calls `listener` with the payload of each notification on `channel`, until the returned function is called. */
  async subscribe(channel: string, listener: Listener): Promise<() => void> {
    const known = this.listeners.get(channel);
    if (known) {
      known.add(listener);
      await this.connecting;
    } else {
      this.listeners.set(channel, new Set([listener]));
      await this.connect();
      await this.listen(channel);
    }
    return () => {
      this.listeners.get(channel)?.delete(listener);
    };
  }

  async onModuleDestroy(): Promise<void> {
    this.closed = true;
    await this.client?.end();
  }

  private async listen(channel: string): Promise<void> {
    // A connection that is opened later listens on every channel.
    const listened = this.listening.then(() => this.client?.query(`LISTEN "${channel}"`));
    this.listening = listened.catch(() => undefined);
    await listened;
  }

  private connect(): Promise<void> {
    if (this.client) return Promise.resolve();
    this.connecting ??= this.open().finally(() => {
      this.connecting = undefined;
    });
    return this.connecting;
  }

  private async open(): Promise<void> {
    const client = new Client({ connectionString: this.config.database.url, ...KEEP_ALIVE });
    client.on('error', (error) => this.reconnect(client, error));
    client.on('end', () => this.reconnect(client));
    client.on('notification', ({ channel, payload }) => {
      for (const listener of this.listeners.get(channel) ?? []) this.notify(listener, channel, payload ?? '');
    });
    await client.connect();
    for (const channel of this.listeners.keys()) await client.query(`LISTEN "${channel}"`);
    this.client = client;
  }

  /** An error of a listener must neither end the process nor keep the others from the notification. */
  private notify(listener: Listener, channel: string, payload: string): void {
    try {
      listener(payload);
    } catch (error) {
      // Without the message: a parser's quotes the payload, which may be a user's.
      const cause = error instanceof Error ? error.name : 'Error';
      this.logger.error({ channel, cause, bytes: Buffer.byteLength(payload) }, 'A notification was not understood');
    }
  }

  private reconnect(client: Client, cause?: Error): void {
    if (this.closed || this.client !== client) return;
    this.client = undefined;
    this.logger.warn(
      `Lost the notification connection${cause ? `: ${cause.message}` : ''}; streams poll until it is back`,
    );
    const retry = (): void => {
      if (this.closed) return;
      this.connect().catch(() => setTimeout(retry, RECONNECT_DELAY_MS).unref());
    };
    setTimeout(retry, RECONNECT_DELAY_MS).unref();
  }
}
