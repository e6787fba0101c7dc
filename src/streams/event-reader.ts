import { Injectable, OnModuleInit } from '@nestjs/common';
import { BatchedCalls } from '../database/batched-calls';
import { Notifications } from '../database/notifications';
import { acrossTenants } from '../database/request-scope';
import { EventLogRepository, type EventPage, type EventQuery } from './event-log.repository';
import { END_EVENT, parseHint, RUN_EVENTS_CHANNEL, type RunEvent, type RunHint } from './run-event';

/** Time that a reader waits for a hint before it queries anyway: the cost of a lost notification. */
const POLL_MS = 1_000;
/** Runs whose latest hints are remembered: many more than those that are created within the time that a reader needs to begin. */
const REMEMBERED_HINTS = 10_000;

const NOTHING_YET: EventPage = { events: [], isLast: true };

/** A run whose log is read. */
export interface ReadRun {
  runId: string;
  /** Whether it was pending when this process read its row, so that each event in its log was announced to this process. */
  wasPending?: boolean;
  /**
   * Asked while nothing comes: true ends the reading after the last event of the log, also of one without an end (its events
   * expired).
   */
  isOver: () => Promise<boolean>;
}

/** The hints of a run, for one reader of its log. */
class Hints {
  private isHinted = false;
  private isStopped = false;
  private settle: ((hinted: boolean) => void) | undefined;
  /** One for all waits: a reader waits once for each token of a model. */
  private readonly timer = setTimeout(() => this.answer(false), POLL_MS);

  /**
   * @param forEnd whether the reader only waits for the end of the log
   * @param onStop called once
   */
  constructor(
    readonly forEnd: boolean,
    private readonly onStop: () => void,
  ) {}

  hint(): void {
    this.isHinted = true;
    this.answer(true);
  }

  /** Forgets the hints so far: the events that they announce are in the log, which the reader queries now. */
  forget(): void {
    this.isHinted = false;
  }

  /** Resolves to true at the first hint since `forget`, and to false where none comes within POLL_MS or before `stop`. */
  next(): Promise<boolean> {
    if (this.isHinted || this.isStopped) return Promise.resolve(this.isHinted);
    this.timer.refresh();
    return new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    clearTimeout(this.timer);
    this.answer(false);
    this.onStop();
  }

  private answer(hinted: boolean): void {
    this.settle?.(hinted);
    this.settle = undefined;
  }
}

/** Reads the logs of runs as they grow, for any number of readers of any run, with one query for all who wait. */
@Injectable()
export class EventReader implements OnModuleInit {
  private readonly readers = new Map<string, Set<Hints>>();
  private readonly watchers = new Set<() => void>();
  /** Runs that hints came for, the latest last, and whether the latest was that of their end. */
  private readonly remembered = new Map<string, boolean>();
  private readonly pages: BatchedCalls<EventQuery, EventPage>;
  private readonly ends: BatchedCalls<string, RunEvent | undefined>;

  constructor(
    log: EventLogRepository,
    private readonly notifications: Notifications,
  ) {
    // One query serves readers of several tenants; each reader's access to its run was checked before.
    this.pages = new BatchedCalls((queries) => acrossTenants(() => log.readMany(queries)));
    this.ends = new BatchedCalls((runIds) => acrossTenants(() => log.readEnds(runIds)));
  }

  async onModuleInit(): Promise<void> {
    await this.notifications.subscribe(RUN_EVENTS_CHANNEL, (payload) => {
      const hints = payload.split(',').map(parseHint);
      // Further events of a run that is known start nothing, and there are many of them. The end of one gives others their turn.
      const isStartOrEnd = hints.some(({ runId, isEnd }) => isEnd || !this.remembered.has(runId));
      for (const hint of hints) this.wake(hint);
      if (isStartOrEnd) for (const watcher of this.watchers) watcher();
    });
  }

  /**
   * Yields the events after `after` (-1: from the start) as they come, in order and without gaps, and ends after the
   * run's end. A page is read only when the one before was taken, so a slow reader holds one page and delays no other.
   */
  async *followRun(run: ReadRun, after: number, signal: AbortSignal): AsyncGenerator<RunEvent[]> {
    const { runId, isOver } = run;
    const hints = this.listen(runId, signal, false);
    let position = after;
    let isComplete = false;
    let isEmpty = run.wasPending === true && !this.remembered.has(runId);
    try {
      while (!signal.aborted) {
        // Before the query, so that a hint during it means another one.
        hints.forget();
        const { events, isLast } = isEmpty ? NOTHING_YET : await this.pages.call({ runId, after: position });
        isEmpty = false;
        const last = events.at(-1);
        if (last) {
          position = last.seq;
          yield events;
        }
        if (last?.event === END_EVENT || (isComplete && isLast)) return;
        if (!isLast) continue;
        const hinted = await hints.next();
        // The log may have grown since its last page was read.
        isComplete = !hinted && !signal.aborted && (await isOver());
      }
    } finally {
      hints.stop();
    }
  }

  /**
   * Reads the end of a run's log once it is written, without reading the events before it.
   * @returns undefined when `signal` came first, or the log has no end
   */
  async readEnd(run: ReadRun, signal: AbortSignal): Promise<RunEvent | undefined> {
    const { runId, isOver } = run;
    const hints = this.listen(runId, signal, true);
    let isOpen = run.wasPending === true && this.remembered.get(runId) !== true;
    try {
      while (!signal.aborted) {
        hints.forget();
        const end = isOpen ? undefined : await this.ends.call(runId);
        isOpen = false;
        if (end) return end;
        const hinted = await hints.next();
        if (!hinted && !signal.aborted && (await isOver())) return await this.ends.call(runId);
      }
      return undefined;
    } finally {
      hints.stop();
    }
  }

  /**
   * Calls `watcher` whenever any run has its first events or its end, until the returned function is called. A hint may be lost,
   * and a run may be announced again.
   */
  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  /** The hints of a run from now on, until `stop` is called or `signal` comes. */
  private listen(runId: string, signal: AbortSignal, forEnd: boolean): Hints {
    const readers = this.readers.get(runId) ?? new Set<Hints>();
    const stop = (): void => hints.stop();
    const hints = new Hints(forEnd, () => {
      signal.removeEventListener('abort', stop);
      readers.delete(hints);
      if (readers.size === 0) this.readers.delete(runId);
    });
    this.readers.set(runId, readers.add(hints));
    // A reader whose client takes no more events doesn't return before it is asked for some.
    signal.addEventListener('abort', stop);
    return hints;
  }

  private wake({ runId, isEnd }: RunHint): void {
    this.remember(runId, isEnd);
    for (const hints of this.readers.get(runId) ?? []) if (isEnd || !hints.forEnd) hints.hint();
  }

  private remember(runId: string, isEnd: boolean): void {
    this.remembered.delete(runId);
    this.remembered.set(runId, isEnd);
    if (this.remembered.size <= REMEMBERED_HINTS) return;
    const [oldest] = this.remembered.keys();
    this.remembered.delete(oldest);
  }
}
