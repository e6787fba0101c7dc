import { ExternalStore } from '../../app/external-store';
import { sdk } from '../../api/sdk';

/** Stream modes that can be shown side by side, named as the events of the stream are. */
export const STREAM_MODES = [
  'values',
  'messages',
  'updates',
  'custom',
  'tasks',
  'checkpoints',
  'debug',
  'events',
] as const;
export type StreamMode = (typeof STREAM_MODES)[number];

/** The modes of a list in an address, such as `updates,debug`. */
export const modesOf = (text = ''): StreamMode[] => STREAM_MODES.filter((each) => text.split(',').includes(each));

/** Events kept of each mode: older ones are dropped. */
const KEPT = 200;
/** A stream of many tokens renders the list of events ten times a second, not once for each token. */
const PUBLISH_MS = 100;

export interface StreamEvent {
  /** Position among all events of the page. */
  seq: number;
  at: number;
  /** Name without the namespace of a subgraph. */
  mode: string;
  name: string;
  data: unknown;
}

export interface LoggedEvents {
  total: number;
  byMode: ReadonlyMap<string, readonly StreamEvent[]>;
}

type Stream = AsyncGenerator<{ event: string; data: unknown }>;

/** The events of all streams that its client has read. */
export class StreamLog {
  readonly events = new ExternalStore<LoggedEvents>({ total: 0, byMode: new Map() });
  private readonly unpublished: StreamEvent[] = [];
  private total = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** The client of the API, whose streams are logged. */
  readonly client: typeof sdk = Object.create(sdk, {
    runs: {
      value: new Proxy(sdk.runs, {
        get: (runs, name) => {
          const member: unknown = Reflect.get(runs, name);
          if (typeof member !== 'function') return member;
          const call = (...args: unknown[]): unknown => Reflect.apply(member, runs, args);
          if (name !== 'stream' && name !== 'joinStream') return call;
          return (...args: unknown[]) => this.read(call(...args) as Stream);
        },
      }),
    },
  }) as typeof sdk;

  private async *read(stream: Stream): Stream {
    for await (const chunk of stream) {
      this.note(chunk.event, chunk.data);
      yield chunk;
    }
  }

  private note(name: string, data: unknown): void {
    this.total += 1;
    this.unpublished.push({ seq: this.total, at: Date.now(), mode: name.split('|')[0], name, data });
    this.timer ??= setTimeout(() => this.publish(), PUBLISH_MS);
  }

  private publish(): void {
    this.timer = undefined;
    const byMode = new Map(this.events.get().byMode);
    for (const [mode, added] of Map.groupBy(this.unpublished.splice(0), (event) => event.mode)) {
      byMode.set(mode, [...(byMode.get(mode) ?? []), ...added].slice(-KEPT));
    }
    this.events.set({ total: this.total, byMode });
  }
}
