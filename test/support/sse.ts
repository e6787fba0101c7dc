export interface SseEvent {
  event: string;
  data: unknown;
  id: string | undefined;
}

/** Reads server-sent events off the wire without a client's help: ids, comments and framing are what is tested. */
export class SseReader {
  readonly comments: string[] = [];
  private readonly reader: ReadableStreamDefaultReader<string>;
  private buffer = '';

  constructor(readonly response: Response) {
    if (!response.body) throw new Error(`No body with status ${response.status}`);
    this.reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  static async get(url: string, headers: Record<string, string> = {}): Promise<SseReader> {
    return new SseReader(await fetch(url, { headers }));
  }

  static async post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<SseReader> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return new SseReader(response);
  }

  /** The events as they arrive, until the end of the stream; a broken connection is an error. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SseEvent> {
    for (;;) {
      const end = this.buffer.indexOf('\n\n');
      if (end >= 0) {
        const event = this.parse(this.buffer.slice(0, end));
        this.buffer = this.buffer.slice(end + 2);
        if (event) yield event;
        continue;
      }
      const { done, value } = await this.reader.read();
      if (done) return;
      this.buffer += value;
    }
  }

  async rest(): Promise<SseEvent[]> {
    const events: SseEvent[] = [];
    for await (const event of this) events.push(event);
    return events;
  }

  /** Reads until an event of which `found` is true; resolves to what came up to then. */
  async until(found: (event: SseEvent) => boolean): Promise<SseEvent[]> {
    const events: SseEvent[] = [];
    for await (const event of this) {
      events.push(event);
      if (found(event)) return events;
    }
    throw new Error(`The stream ended without the event: ${JSON.stringify(events.map((each) => each.event))}`);
  }

  async close(): Promise<void> {
    await this.reader.cancel();
  }

  private parse(frame: string): SseEvent | undefined {
    const fields = new Map<string, string>();
    for (const line of frame.split('\n')) {
      if (line.startsWith(':')) this.comments.push(line.slice(1).trim());
      const [, name, value] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
      if (name !== undefined) fields.set(name, value);
    }
    const event = fields.get('event') ?? (fields.has('data') ? 'message' : undefined);
    if (event === undefined) return undefined;
    return { event, data: JSON.parse(fields.get('data') ?? 'null'), id: fields.get('id') };
  }
}
