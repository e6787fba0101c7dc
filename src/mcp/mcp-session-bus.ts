import { randomUUID } from 'node:crypto';
import { Injectable, OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { Notifications } from '../database/notifications';
import type { SessionTransport } from './session-transport';

const CHANNEL = 'gantry_mcp_messages';
/** Postgres takes 8,000 bytes a notification, the parts' own fields included; base64 keeps characters whole. */
const PART_LENGTH = 7_500;
/** Limit for answers of people and models; a notification queue is not for files. */
const MAX_BYTES = 1024 * 1024;
const ACKNOWLEDGED_MS = 3_000;

const partSchema = z.object({
  /** The delivery, which the replica that takes the message names in return. */
  d: z.string(),
  s: z.string().optional(),
  i: z.number().optional(),
  n: z.number().optional(),
  m: z.string().optional(),
});

export type Delivery = 'taken' | 'not-awaited' | 'too-large';

/**
 * Forwards a client's message to the replica that serves the request to which it belongs: answers to a run's questions, and
 * cancellations. Only accepted messages are acknowledged to the client, so that a lost notification is an error rather than
 * silence.
 */
@Injectable()
export class McpSessionBus implements OnModuleInit {
  private readonly open = new Map<string, Set<SessionTransport>>();
  /**
   * The delivery whose parts arrive at the moment, for a session that was open at its first part. Only one: Postgres delivers the
   * notifications of a transaction without those of others in between.
   */
  private arriving: { delivery: string; parts: string[] } | undefined;
  private readonly unacknowledged = new Map<string, () => void>();

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly notifications: Notifications,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.notifications.subscribe(CHANNEL, (payload) => this.hear(payload));
  }

  /** @returns what ends the registration */
  register(sessionId: string, transport: SessionTransport): () => void {
    const transports = this.open.get(sessionId) ?? new Set();
    this.open.set(sessionId, transports.add(transport));
    return () => {
      transports.delete(transport);
      if (transports.size === 0) this.open.delete(sessionId);
    };
  }

  async deliver(sessionId: string, message: JSONRPCMessage): Promise<Delivery> {
    if (this.take(sessionId, message)) return 'taken';
    const text = Buffer.from(JSON.stringify(message)).toString('base64');
    if (text.length > MAX_BYTES) return 'too-large';
    const delivery = randomUUID();
    const parts = text.match(new RegExp(`.{1,${PART_LENGTH}}`, 'g')) ?? [];
    const acknowledged = this.acknowledgement(delivery);
    const payloads = parts.map((m, i) => JSON.stringify({ d: delivery, s: sessionId, i, n: parts.length, m }));
    // One statement: the parts arrive together and in order.
    await this.database.query(
      `SELECT pg_notify($1, part) FROM unnest($2::text[]) WITH ORDINALITY AS parts (part, index) ORDER BY index`,
      [CHANNEL, payloads],
    );
    return (await acknowledged) ? 'taken' : 'not-awaited';
  }

  private take(sessionId: string, message: JSONRPCMessage): boolean {
    return [...(this.open.get(sessionId) ?? [])].some((transport) => transport.take(message));
  }

  private hear(payload: string): void {
    const { d: delivery, s: session, i: index, n: count, m: text } = partSchema.parse(JSON.parse(payload));
    if (session === undefined || index === undefined || count === undefined || text === undefined) {
      this.unacknowledged.get(delivery)?.();
      return;
    }
    if (index === 0) this.arriving = this.open.has(session) ? { delivery, parts: [] } : undefined;
    // A session that was opened after the first part waits for nothing that was sent before.
    if (this.arriving?.delivery !== delivery) return;
    const { parts } = this.arriving;
    parts.push(text);
    if (parts.length < count) return;
    this.arriving = undefined;
    const message = JSON.parse(Buffer.from(parts.join(''), 'base64').toString()) as JSONRPCMessage;
    if (!this.take(session, message)) return;
    // If it isn't received, the client notices by itself that the call is gone.
    this.database.query('SELECT pg_notify($1, $2)', [CHANNEL, JSON.stringify({ d: delivery })]).catch(() => undefined);
  }

  private acknowledgement(delivery: string): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (taken: boolean): void => {
        clearTimeout(timer);
        this.unacknowledged.delete(delivery);
        resolve(taken);
      };
      const timer = setTimeout(() => settle(false), ACKNOWLEDGED_MS);
      this.unacknowledged.set(delivery, () => settle(true));
    });
  }
}
