import { failureOf } from '../../api/failure';
import { sdk } from '../../api/sdk';
import { noteLost, untilReached } from '../../app/connection';
import { ExternalStore } from '../../app/external-store';

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

interface Part {
  id?: string;
  event: string;
  data: unknown;
}
type Stream = AsyncGenerator<Part>;
interface StreamOptions {
  signal?: AbortSignal;
  lastEventId?: string;
}

/**
 * The events of all streams that its client has read. A stream that breaks is joined again after its last event once the
 * server answers: the SDK's client gives up when its first attempt meets a server that is being started again.
 */
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
          return (...args: unknown[]) => {
            const [threadId, target, options = {}] = args as [string | null, string, StreamOptions | undefined];
            const runId = name === 'joinStream' ? target : undefined;
            return this.read(call(...args) as Stream, threadId, runId, options);
          };
        },
      }),
    },
  }) as typeof sdk;

  private async *read(
    first: Stream,
    threadId: string | null,
    knownRun: string | undefined,
    options: StreamOptions,
  ): Stream {
    let stream = first;
    let runId = knownRun;
    let { lastEventId = '-1' } = options;
    for (;;) {
      try {
        for await (const part of stream) {
          lastEventId = part.id ?? lastEventId;
          if (part.event === 'metadata') runId ??= (part.data as { run_id?: string }).run_id;
          this.note(part.event, part.data);
          yield part;
        }
        return;
      } catch (failure) {
        // A refusal of the server stays one when it is asked again.
        if (options.signal?.aborted || failureOf(failure) || threadId === null || runId === undefined) throw failure;
        noteLost();
        await untilReached(options.signal);
        const { signal } = options;
        stream = sdk.runs.joinStream(threadId, runId, { lastEventId, ...(signal && { signal }) }) as Stream;
      }
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
