import type { EventId, EventStore, JSONRPCRequest, RequestId, ServerContext } from '@modelcontextprotocol/server';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { McpSession } from './mcp-session';
import { readToken, signToken } from './signed-token';

const claimSchema = z.object({
  /** Session, id of the request, tool, progress token. */
  s: z.string(),
  i: z.union([z.string(), z.number()]),
  t: z.string(),
  p: z.union([z.string(), z.number()]).optional(),
  /** Run, number of its last event that was emitted, last progress that was emitted. */
  r: z.uuid(),
  a: z.number(),
  n: z.number(),
});

/**
 * The stream of a tool call in the revisions before 2026-07-28, where a client that has lost it asks for the rest with
 * `Last-Event-ID`. The id of each event says, signed, which run the stream reports and how far it is: the run's log has the
 * rest, so nothing is kept for it here, and any replica can continue.
 */
export class CallStream implements EventStore {
  private constructor(
    private readonly key: Buffer,
    private readonly sessionId: string,
    private readonly call: { id: RequestId; tool: string; progressToken: string | number | undefined },
    /** Position of the client. The id of a call's first run is chosen before the run is created, for the events before it. */
    public runId: string,
    public after: number,
    public progress: number,
    readonly isResumed: boolean,
  ) {}

  static beginStream(key: Buffer, session: McpSession, { id, params }: JSONRPCRequest): CallStream {
    const { name, _meta } = (params ?? {}) as { name?: unknown; _meta?: { progressToken?: string | number } };
    const call = { id, tool: typeof name === 'string' ? name : '', progressToken: _meta?.progressToken };
    return new CallStream(key, session.id, call, uuidv7(), -1, -1, false);
  }

  /** @returns undefined for an id that isn't of a stream of this session */
  static resume(key: Buffer, session: McpSession, lastEventId: string): CallStream | undefined {
    const claim = claimSchema.safeParse(readToken(key, lastEventId));
    if (!claim.success || claim.data.s !== session.id) return undefined;
    const { i: id, t: tool, p: progressToken, r: runId, a: after, n: progress } = claim.data;
    return new CallStream(key, session.id, { id, tool, progressToken }, runId, after, progress, true);
  }

  /** The stream of the request that is being served, if it can be resumed. */
  static of({ http }: ServerContext): CallStream | undefined {
    return http?.authInfo?.extra?.stream as CallStream | undefined;
  }

  /** The request whose answer the stream is, for the protocol's library; its arguments made the run already. */
  get request(): JSONRPCRequest {
    const { id, tool: name, progressToken } = this.call;
    const _meta = progressToken === undefined ? {} : { _meta: { progressToken } };
    return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {}, ..._meta } };
  }

  /** Another run continues the call. */
  moveTo(runId: string): void {
    if (this.runId === runId) return;
    this.runId = runId;
    this.after = -1;
  }

  storeEvent(): Promise<EventId> {
    const { id: i, tool: t, progressToken: p } = this.call;
    const claim: z.infer<typeof claimSchema> = {
      s: this.sessionId,
      i,
      t,
      r: this.runId,
      a: this.after,
      n: this.progress,
    };
    return Promise.resolve(signToken(this.key, p === undefined ? claim : { ...claim, p }));
  }

  replayEventsAfter(): Promise<never> {
    return Promise.reject(new Error('Streams are taken up by serving their request again'));
  }
}
