/** An answer that may take hours: server-sent events, or a result that is waited for. */
export interface OpenStream {
  readonly kind: 'events' | 'wait';
  /** Breaks the connection off behind the last whole frame, so that its client comes back for the rest. */
  breakOff(): void;
}

/** The streams that this process has open, for those who count them and for the drain. */
export class OpenStreams {
  private readonly open = new Set<OpenStream>();

  add(stream: OpenStream): void {
    this.open.add(stream);
  }

  delete(stream: OpenStream): void {
    this.open.delete(stream);
  }

  count(kind: OpenStream['kind']): number {
    let count = 0;
    for (const stream of this.open) if (stream.kind === kind) count += 1;
    return count;
  }

  breakOff(kind: OpenStream['kind']): void {
    for (const stream of [...this.open]) if (stream.kind === kind) stream.breakOff();
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
