import { randomUUID } from 'node:crypto';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type MessageExtraInfo,
  type RequestId,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import type { McpSession } from './mcp-session';

/**
 * One request of a session, between the SDK's transport and its server. It passes the result of the handshake to the server,
 * since a server lives for one request only; and it gives requests to the client ids that are unique in the session, so
 * that the answer, which comes with another request and maybe to another replica, finds its way back.
 */
export class SessionTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;

  /** Ids of our requests to the client → as the server knows them. */
  private readonly asked = new Map<RequestId, RequestId>();
  private readonly handshake = `handshake-${randomUUID()}`;
  /** Requests of the client that are being served. */
  private readonly served = new Set<RequestId>();

  constructor(
    private readonly inner: Transport,
    private readonly session: McpSession,
  ) {}

  async start(): Promise<void> {
    this.inner.onclose = () => this.onclose?.();
    this.inner.onerror = (error) => this.onerror?.(error);
    this.inner.onmessage = (message, extra) => {
      if (isJSONRPCRequest(message)) this.served.add(message.id);
      this.onmessage?.(message, extra);
    };
    await this.inner.start();
  }

  /** Replays the handshake; called once the server is connected. */
  replayHandshake(): void {
    const { protocolVersion, capabilities } = this.session;
    const params = { protocolVersion, capabilities, clientInfo: { name: 'session', version: '1' } };
    this.onmessage?.({ jsonrpc: '2.0', id: this.handshake, method: 'initialize', params });
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    if (isAnswer && message.id === this.handshake) return;
    // What was cancelled is not answered, even if it has ended meanwhile.
    if (isAnswer && message.id !== undefined && !this.served.delete(message.id)) return;
    if (!isJSONRPCRequest(message)) {
      await this.inner.send(message, options);
      if (isAnswer) this.closeWhenServed();
      return;
    }
    const id = randomUUID();
    this.asked.set(id, message.id);
    return this.inner.send({ ...message, id }, options);
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  /** Accepts an answer to a request of this server, or the cancellation of a request that it serves. */
  take(message: JSONRPCMessage): boolean {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      const id = message.id === undefined ? undefined : this.asked.get(message.id);
      if (id === undefined) return false;
      this.asked.delete(message.id!);
      this.onmessage?.({ ...message, id });
      return true;
    }
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return false;
    if (!this.served.delete(message.params?.requestId as RequestId)) return false;
    this.onmessage?.(message);
    // A cancelled request is not answered, so its stream has to be closed here.
    this.closeWhenServed();
    return true;
  }

  private closeWhenServed(): void {
    if (this.served.size === 0) setImmediate(() => void this.inner.close());
  }
}
