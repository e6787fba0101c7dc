import type { FastifyRequest } from 'fastify';

/** Why this server ends a stream that its client would keep open. */
export type BreakOffReason = 'stopping' | 'key-revoked' | 'token-expired';

/** An answer that may take hours: server-sent events, or the result of a wait. */
export interface OpenStream {
  readonly kind: 'events' | 'wait';
  /** Cuts the connection after the last complete frame, so that the client reconnects for the rest, or learns why it can't. */
  breakOff(reason: BreakOffReason): void;
}

interface Caller {
  /** Undefined if the caller has no API key. */
  keyId: string | undefined;
  /** In milliseconds since 1970; undefined if the caller's access has no known end. */
  accessEndsAt: number | undefined;
  /** Undefined for callers without a limit: Gantry itself, and all callers if auth is off. */
  name: string | undefined;
}

function nameOf({ actor, tenantId }: Pick<FastifyRequest, 'actor' | 'tenantId'>): string | undefined {
  return actor?.kind === 'key' || actor?.kind === 'user' ? `${tenantId} ${actor.kind} ${actor.id}` : undefined;
}

/** The open streams of this process, for metrics, limits, the drain, and the end of a caller's access. */
export class OpenStreams {
  private readonly open = new Map<OpenStream, Caller>();
  private readonly counts = new Map<string, number>();

  /** @param request accepted by the guard */
  add(stream: OpenStream, request: Pick<FastifyRequest, 'actor' | 'tenantId' | 'accessEndsAt'>): void {
    const { actor, accessEndsAt } = request;
    const name = nameOf(request);
    this.open.set(stream, { keyId: actor?.kind === 'key' ? actor.id : undefined, accessEndsAt, name });
    if (name !== undefined) this.counts.set(name, this.countOf(request) + 1);
  }

  delete(stream: OpenStream): void {
    const name = this.open.get(stream)?.name;
    if (!this.open.delete(stream) || name === undefined) return;
    const left = (this.counts.get(name) ?? 1) - 1;
    if (left > 0) this.counts.set(name, left);
    else this.counts.delete(name);
  }

  /** Streams that the caller of a request has open: an API key, or a user of the custom auth. */
  countOf(request: Pick<FastifyRequest, 'actor' | 'tenantId'>): number {
    const name = nameOf(request);
    return name === undefined ? 0 : (this.counts.get(name) ?? 0);
  }

  count(kind: OpenStream['kind']): number {
    let count = 0;
    for (const stream of this.open.keys()) if (stream.kind === kind) count += 1;
    return count;
  }

  /** Ids of the API keys that streams are open with. */
  keyIds(): string[] {
    return [...new Set([...this.open.values()].map(({ keyId }) => keyId))].filter((each) => each !== undefined);
  }

  /** Ends all streams of a kind because the process stops. */
  breakOff(kind: OpenStream['kind']): void {
    for (const stream of [...this.open.keys()]) if (stream.kind === kind) stream.breakOff('stopping');
  }

  /** Ends the streams of these API keys. Returns their number. */
  breakOffOf(keyIds: string[]): number {
    const revoked = new Set<string | undefined>(keyIds);
    return this.breakOffWhere(({ keyId }) => keyId !== undefined && revoked.has(keyId), 'key-revoked');
  }

  /** Ends the streams whose access token has expired. Returns their number. */
  breakOffExpired(now: number): number {
    return this.breakOffWhere(({ accessEndsAt = Infinity }) => accessEndsAt <= now, 'token-expired');
  }

  private breakOffWhere(matches: (caller: Caller) => boolean, reason: BreakOffReason): number {
    const streams = [...this.open].filter(([, caller]) => matches(caller));
    for (const [stream] of streams) stream.breakOff(reason);
    return streams.length;
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    openStreams: OpenStreams;
  }
  interface FastifyRequest {
    /** When the answer began, where that is long before its end. */
    answeredAfterMs?: number;
  }
}
