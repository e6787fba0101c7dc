import { Injectable, OnModuleInit } from '@nestjs/common';
import { Notifications } from '../database/notifications';
import { acrossTenants } from '../database/request-scope';
import { EventLogRepository } from './event-log.repository';
import { END_EVENT, RUN_EVENTS_CHANNEL, type RunEvent } from './run-event';

/** How long a reader waits for a hint before it looks by itself: a lost notification costs this much and no event. */
const POLL_MS = 1_000;

interface Request {
  runId: string;
  after: number;
  resolve: (events: RunEvent[]) => void;
  reject: (error: unknown) => void;
}

/** Reads the logs of runs as they grow, for any number of readers of any run, with one query for all who wait. */
@Injectable()
export class EventReader implements OnModuleInit {
  private readonly sleepers = new Map<string, Set<() => void>>();
  private readonly watchers = new Set<() => void>();
  private requests: Request[] = [];
  private reading = false;

  constructor(
    private readonly log: EventLogRepository,
    private readonly notifications: Notifications,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.notifications.subscribe(RUN_EVENTS_CHANNEL, (payload) => {
      for (const runId of payload.split(',')) this.wake(runId);
      for (const watcher of this.watchers) watcher();
    });
  }

  /**
   * Yields the events after `after` (-1: from the start) as they come, in order and without gaps, and ends behind the
   * run's end. A page is read only when the one before was taken, so a slow reader holds one page and nobody else.
   * @param isOver asked while nothing comes: true ends the reading of a log that will have no end (its events expired).
   */
  async *follow(
    runId: string,
    after: number,
    signal: AbortSignal,
    isOver: () => Promise<boolean>,
  ): AsyncGenerator<RunEvent[]> {
    let position = after;
    while (!signal.aborted) {
      // Asleep before the look, so that an event that comes during it wakes the next one.
      const sleep = this.sleep(runId, signal);
      const events = await this.read(runId, position);
      if (events.length > 0) {
        sleep.cancel();
        position = events.at(-1)!.seq;
        yield events;
        if (events.at(-1)!.event === END_EVENT) return;
        continue;
      }
      const hinted = await sleep.done;
      if (!hinted && !signal.aborted && (await isOver())) {
        const rest = await this.read(runId, position);
        if (rest.length > 0) yield rest;
        return;
      }
    }
  }

  /** Calls `watcher` whenever any run has new events, until the returned function is called. A hint may be lost. */
  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private sleep(runId: string, signal: AbortSignal): { done: Promise<boolean>; cancel: () => void } {
    let cancel!: () => void;
    const done = new Promise<boolean>((resolve) => {
      const settle = (hinted: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', give);
        const sleepers = this.sleepers.get(runId);
        sleepers?.delete(hint);
        if (sleepers?.size === 0) this.sleepers.delete(runId);
        resolve(hinted);
      };
      const hint = (): void => settle(true);
      const give = (): void => settle(false);
      const timer = setTimeout(give, POLL_MS);
      signal.addEventListener('abort', give);
      const sleepers = this.sleepers.get(runId);
      if (sleepers) sleepers.add(hint);
      else this.sleepers.set(runId, new Set([hint]));
      cancel = give;
    });
    return { done, cancel };
  }

  private wake(runId: string): void {
    for (const hint of [...(this.sleepers.get(runId) ?? [])]) hint();
  }

  /** What is asked while a query is on its way shares the next one. */
  private read(runId: string, after: number): Promise<RunEvent[]> {
    return new Promise((resolve, reject) => {
      this.requests.push({ runId, after, resolve, reject });
      if (!this.reading) void this.readAll();
    });
  }

  private async readAll(): Promise<void> {
    this.reading = true;
    while (this.requests.length > 0) {
      const requests = this.requests;
      this.requests = [];
      try {
        // One query for readers of several tenants; each has been let through to its run before.
        const pages = await acrossTenants(() => this.log.readMany(requests));
        requests.forEach((request, index) => request.resolve(pages[index]));
      } catch (error) {
        for (const request of requests) request.reject(error);
      }
    }
    this.reading = false;
  }
}
