import { failureOf, UNREACHED } from '../../api/failure';
import { sdk } from '../../api/sdk';
import { untilReached } from '../../app/connection';
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
/** Number of answers in a row that refuse a stream for now, after which the last one counts. */
const MOST_REFUSALS = 10;

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
  /** The newest events of each mode. */
  byMode: ReadonlyMap<string, readonly StreamEvent[]>;
  /** Number of all events of each mode. */
  counts: ReadonlyMap<string, number>;
}

interface Part {
  id?: string;
  event: string;
  data: unknown;
}
type Stream = AsyncGenerator<Part>;
/** Options of `stream` and `joinStream` of the SDK's client, as far as they are used here. */
interface StreamOptions {
  signal?: AbortSignal;
  lastEventId?: string;
  input?: object | null;
  command?: object | null;
  onRunCreated?: (created: { run_id: string; thread_id?: string }) => void;
}

/** A run whose stream is read. */
export interface ReadRun {
  threadId: string;
  runId: string;
}

/**
 * The events of all streams that its client has read, one after another. A stream that breaks is joined again after its last
 * event once the server answers: the SDK's client gives up when its first attempt meets a server that is being started again.
 */
export class StreamLog {
  readonly events = new ExternalStore<LoggedEvents>({ total: 0, byMode: new Map(), counts: new Map() });
  /** The run whose stream is read; undefined while there is none, or while it is being created. */
  readonly run = new ExternalStore<ReadRun | undefined>(undefined);
  /** Inputs and commands of the runs that the server has created. */
  private readonly accepted = new WeakSet<object>();
  /** Whether the page that reads the streams is still there. */
  isOpen = true;
  private closing = new AbortController();
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
          return (threadId: string, target: string, given: StreamOptions = {}) => {
            const options = this.watched(threadId, given);
            const stream = call(threadId, target, options) as Stream;
            const joined = name === 'joinStream' ? { threadId, runId: target } : undefined;
            return this.read(stream, joined, options);
          };
        },
      }),
    },
  }) as typeof sdk;

  /** Whether the server has created a run with this input or command. */
  hasAccepted(given: object): boolean {
    return this.accepted.has(given);
  }

  /** Effect of the page that reads the streams: its end closes them, and leaves their runs as they are. */
  readonly open = (): (() => void) => {
    this.isOpen = true;
    if (this.closing.signal.aborted) this.closing = new AbortController();
    return () => {
      this.isOpen = false;
      if (this.run.get()) this.closing.abort();
    };
  };

  /** Notes the run that is read. Its stream is closed only now if the page was left while the run was being created. */
  private follow(run: ReadRun): void {
    this.run.set(run);
    if (!this.isOpen) this.closing.abort();
  }

  private watched(threadId: string, given: StreamOptions): StreamOptions & { signal: AbortSignal } {
    const { signal, input, command, onRunCreated } = given;
    return {
      ...given,
      signal: signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal,
      onRunCreated: (created) => {
        for (const each of [input, command]) if (each) this.accepted.add(each);
        this.follow({ threadId, runId: created.run_id });
        onRunCreated?.(created);
      },
    };
  }

  private async *read(
    first: Stream,
    joined: ReadRun | undefined,
    { signal, lastEventId = '-1' }: StreamOptions & { signal: AbortSignal },
  ): Stream {
    if (joined) this.follow(joined);
    let refusals = 0;
    try {
      for (let stream = first; ;) {
        try {
          for await (const part of stream) {
            refusals = 0;
            lastEventId = part.id ?? lastEventId;
            this.note(part.event, part.data);
            yield part;
          }
          // The SDK's client ends an aborted stream as if the run had ended.
          signal.throwIfAborted();
          return;
        } catch (failure) {
          const run = this.run.get();
          const status = failureOf(failure)?.status;
          if (status !== undefined) refusals += 1;
          // Most refusals of the server stay the same when it is asked again. The others may do so as well.
          const isFinal = status !== undefined && (!UNREACHED.has(status) || refusals > MOST_REFUSALS);
          if (signal.aborted || isFinal || !run) throw failure;
          await untilReached(signal);
          stream = sdk.runs.joinStream(run.threadId, run.runId, { lastEventId, signal }) as Stream;
        }
      }
    } finally {
      this.run.set(undefined);
    }
  }

  private note(name: string, data: unknown): void {
    this.total += 1;
    this.unpublished.push({ seq: this.total, at: Date.now(), mode: name.split('|')[0], name, data });
    this.timer ??= setTimeout(() => this.publish(), PUBLISH_MS);
  }

  private publish(): void {
    this.timer = undefined;
    const before = this.events.get();
    const [byMode, counts] = [new Map(before.byMode), new Map(before.counts)];
    for (const [mode, added] of Map.groupBy(this.unpublished.splice(0), (event) => event.mode)) {
      byMode.set(mode, [...(byMode.get(mode) ?? []), ...added].slice(-KEPT));
      counts.set(mode, (counts.get(mode) ?? 0) + added.length);
    }
    this.events.set({ total: this.total, byMode, counts });
  }
}
