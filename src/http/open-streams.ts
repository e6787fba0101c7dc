import type { FastifyRequest } from 'fastify';

/** Why this server ends a stream that its client would go on with. */
export type BreakOffReason = 'stopping' | 'key-revoked';

/** An answer that may take hours: server-sent events, or a result that is waited for. */
export interface OpenStream {
  readonly kind: 'events' | 'wait';
  /** Breaks the connection off behind the last whole frame, so that its client comes back for the rest, or is told why not. */
  breakOff(reason: BreakOffReason): void;
}

/** The streams that this process has open, for those who count them, for the drain, and for what becomes of their keys. */
export class OpenStreams {
  /** Each with the id of the API key that it was asked for with, if it was one. */
  private readonly open = new Map<OpenStream, string | undefined>();

  /** @param request that the guard has let through */
  add(stream: OpenStream, { actor }: Pick<FastifyRequest, 'actor'>): void {
    this.open.set(stream, actor?.kind === 'key' ? actor.id : undefined);
  }

  delete(stream: OpenStream): void {
    this.open.delete(stream);
  }

  count(kind: OpenStream['kind']): number {
    let count = 0;
    for (const stream of this.open.keys()) if (stream.kind === kind) count += 1;
    return count;
  }

  /** Ids of the API keys that streams are open with. */
  keyIds(): string[] {
    return [...new Set(this.open.values())].filter((each) => each !== undefined);
  }

  /** Because the process stops. */
  breakOff(kind: OpenStream['kind']): void {
    for (const stream of [...this.open.keys()]) if (stream.kind === kind) stream.breakOff('stopping');
  }

  /** What was opened with these API keys. Resolves to how many that were. */
  breakOffOf(keyIds: string[]): number {
    const revoked = new Set<string | undefined>(keyIds);
    const streams = [...this.open].filter(([, keyId]) => keyId !== undefined && revoked.has(keyId));
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
