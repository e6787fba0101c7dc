import type { FastifyRequest } from 'fastify';

/** Why this server ends a stream that its client would keep open. */
export type BreakOffReason = 'stopping' | 'key-revoked';

/** An answer that may take hours: server-sent events, or a result that is waited for. */
export interface OpenStream {
  readonly kind: 'events' | 'wait';
  /** Breaks the connection off after the last whole frame, so that its client reconnects for the rest, or learns why not. */
  breakOff(reason: BreakOffReason): void;
}

interface Caller {
  /** Undefined where it was no API key that asked. */
  keyId: string | undefined;
  /** Undefined for callers without a limit: Gantry itself, and everybody where auth is off. */
  name: string | undefined;
}

function nameOf({ actor, tenantId }: Pick<FastifyRequest, 'actor' | 'tenantId'>): string | undefined {
  return actor?.kind === 'key' || actor?.kind === 'user' ? `${tenantId} ${actor.kind} ${actor.id}` : undefined;
}

/** The streams that this process has open, for those who count them, for the drain, and for what becomes of their keys. */
export class OpenStreams {
  private readonly open = new Map<OpenStream, Caller>();
  private readonly counts = new Map<string, number>();

  /** @param request that the guard has let through */
  add(stream: OpenStream, request: Pick<FastifyRequest, 'actor' | 'tenantId'>): void {
    const { actor } = request;
    const name = nameOf(request);
    this.open.set(stream, { keyId: actor?.kind === 'key' ? actor.id : undefined, name });
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

  /** Because the process stops. */
  breakOff(kind: OpenStream['kind']): void {
    for (const stream of [...this.open.keys()]) if (stream.kind === kind) stream.breakOff('stopping');
  }

  /** What was opened with these API keys. Resolves to how many that were. */
  breakOffOf(keyIds: string[]): number {
    const revoked = new Set<string | undefined>(keyIds);
    const streams = [...this.open].filter(([, { keyId }]) => keyId !== undefined && revoked.has(keyId));
    for (const [stream] of streams) stream.breakOff('key-revoked');
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
