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

interface Sleeper {
  /** Whether the reader only waits for the end of the log. */
  forEnd: boolean;
  wake: () => void;
}

/** Reads the logs of runs as they grow, for any number of readers of any run, with one query for all who wait. */
@Injectable()
export class EventReader implements OnModuleInit {
  private readonly sleepers = new Map<string, Set<Sleeper>>();
  private readonly watchers = new Set<() => void>();
  /** Runs that hints came for, the latest last, and whether the latest was that of their end. */
  private readonly hints = new Map<string, boolean>();
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
      for (const hint of payload.split(',')) this.wake(parseHint(hint));
      for (const watcher of this.watchers) watcher();
    });
  }

  /**
   * Yields the events after `after` (-1: from the start) as they come, in order and without gaps, and ends after the
   * run's end. A page is read only when the one before was taken, so a slow reader holds one page and delays no other.
   */
  async *followRun(run: ReadRun, after: number, signal: AbortSignal): AsyncGenerator<RunEvent[]> {
    const { runId, isOver } = run;
    let position = after;
    let isComplete = false;
    let isEmpty = run.wasPending === true && !this.hints.has(runId);
    while (!signal.aborted) {
      // Waits for hints before the query, so that an event during it wakes the next one.
      const sleep = this.sleep(runId, signal, false);
      try {
        const { events, isLast } = isEmpty ? NOTHING_YET : await this.pages.call({ runId, after: position });
        isEmpty = false;
        const last = events.at(-1);
        if (last) {
          position = last.seq;
          yield events;
        }
        if (last?.event === END_EVENT || (isComplete && isLast)) return;
        if (!isLast) continue;
        const hinted = await sleep.done;
        // The log may have grown since its last page was read.
        isComplete = !hinted && !signal.aborted && (await isOver());
      } finally {
        sleep.cancel();
      }
    }
  }

  /**
   * Reads the end of a run's log once it is written, without reading the events before it.
   * @returns undefined when `signal` came first, or the log has no end
   */
  async readEnd(run: ReadRun, signal: AbortSignal): Promise<RunEvent | undefined> {
    const { runId, isOver } = run;
    let isOpen = run.wasPending === true && this.hints.get(runId) !== true;
    while (!signal.aborted) {
      const sleep = this.sleep(runId, signal, true);
      const end = isOpen ? undefined : await this.ends.call(runId);
      isOpen = false;
      if (end) {
        sleep.cancel();
        return end;
      }
      const hinted = await sleep.done;
      if (!hinted && !signal.aborted && (await isOver())) return this.ends.call(runId);
    }
    return undefined;
  }

  /** Calls `watcher` whenever any run has new events, until the returned function is called. A hint may be lost. */
  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private sleep(runId: string, signal: AbortSignal, forEnd: boolean): { done: Promise<boolean>; cancel: () => void } {
    let cancel!: () => void;
    const done = new Promise<boolean>((resolve) => {
      const settle = (hinted: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', give);
        const sleepers = this.sleepers.get(runId);
        sleepers?.delete(sleeper);
        if (sleepers?.size === 0) this.sleepers.delete(runId);
        resolve(hinted);
      };
      const sleeper: Sleeper = { forEnd, wake: () => settle(true) };
      const give = (): void => settle(false);
      const timer = setTimeout(give, POLL_MS);
      signal.addEventListener('abort', give);
      const sleepers = this.sleepers.get(runId);
      if (sleepers) sleepers.add(sleeper);
      else this.sleepers.set(runId, new Set([sleeper]));
      cancel = give;
    });
    return { done, cancel };
  }

  private wake({ runId, isEnd }: RunHint): void {
    this.remember(runId, isEnd);
    for (const sleeper of [...(this.sleepers.get(runId) ?? [])]) if (isEnd || !sleeper.forEnd) sleeper.wake();
  }

  private remember(runId: string, isEnd: boolean): void {
    this.hints.delete(runId);
    this.hints.set(runId, isEnd);
    if (this.hints.size <= REMEMBERED_HINTS) return;
    const [oldest] = this.hints.keys();
    this.hints.delete(oldest);
  }
}
