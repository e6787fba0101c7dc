import { Injectable, OnModuleInit } from '@nestjs/common';
import type { TenantId } from '../auth/tenant';
import { Notifications } from '../database/notifications';
import { EventReader } from '../streams/event-reader';
import { type RunEvent, THREAD_STATE_CHANNEL } from '../streams/run-event';
import { RunsService } from './runs.service';
import { type StartedRun, ThreadPositionsRepository } from './thread-positions.repository';

/** A place in a thread's log: after event `seq` of the run at `position`. */
export interface Place {
  position: number;
  seq: number;
}

/** Events of one run of the thread, or that its state was edited before the run at `editedBefore`. */
export type ThreadNews = { run: StartedRun; events: RunEvent[] } | { editedBefore: number };

/** How long a reader waits for a hint before it looks by itself for the next run. */
const POLL_MS = 1_000;

/** The log of a thread is that of its runs, one after the other: a thread has one running run at a time. */
@Injectable()
export class ThreadLog implements OnModuleInit {
  /** Tenant and thread → readers that want to know of edits of its state. */
  private readonly edits = new Map<string, Set<() => void>>();

  constructor(
    private readonly reader: EventReader,
    private readonly runs: RunsService,
    private readonly positions: ThreadPositionsRepository,
    private readonly notifications: Notifications,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.notifications.subscribe(THREAD_STATE_CHANNEL, (thread) => {
      for (const notify of this.edits.get(thread) ?? []) notify();
    });
  }

  /** Emits the events after `place` and all later ones, until the reader disconnects or the thread is deleted. */
  async *follow(tenantId: TenantId, threadId: string, place: Place, signal: AbortSignal): AsyncGenerator<ThreadNews> {
    let { position, seq } = place;
    const watch = new Watch(signal);
    const unwatch = this.reader.watch(() => watch.hint());
    const unlisten = this.listen(`${tenantId}/${threadId}`, () => watch.noteEdit());
    try {
      while (!signal.aborted) {
        const hinted = watch.next();
        // A state is edited only while no run is on the thread: after the last run and before the next.
        if (watch.takeEdit()) yield { editedBefore: position };
        const { run, isThere } = await this.positions.findProgress(tenantId, threadId, position);
        if (run) {
          yield* this.followRun(tenantId, run, run.position === position ? seq : -1, signal);
          position = run.position + 1;
          seq = -1;
        } else {
          if (!isThere) return;
          await hinted;
        }
      }
    } finally {
      unwatch();
      unlisten();
    }
  }

  /** Resolves to true once the thread exists; to false if the reader disconnects before. */
  async whenThere(tenantId: TenantId, threadId: string, signal: AbortSignal): Promise<boolean> {
    const watch = new Watch(signal);
    const unwatch = this.reader.watch(() => watch.hint());
    try {
      while (!signal.aborted) {
        const hinted = watch.next();
        if ((await this.positions.findProgress(tenantId, threadId, 0)).isThere) return true;
        await hinted;
      }
      return false;
    } finally {
      unwatch();
    }
  }

  private async *followRun(
    tenantId: TenantId,
    run: StartedRun,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<ThreadNews> {
    const { runId } = run;
    const isOver = (): Promise<boolean> => this.runs.isOver(tenantId, runId);
    for await (const events of this.reader.followRun({ runId, isOver }, after, signal)) yield { run, events };
  }

  private listen(thread: string, notify: () => void): () => void {
    const listeners = this.edits.get(thread) ?? new Set();
    this.edits.set(thread, listeners.add(notify));
    return () => {
      listeners.delete(notify);
      if (listeners.size === 0) this.edits.delete(thread);
    };
  }
}

/** Notification of a waiting stream: there may be something to read. */
class Watch {
  private edited = false;
  private wake: () => void = () => undefined;

  constructor(private readonly signal: AbortSignal) {
    signal.addEventListener('abort', () => this.wake());
  }

  /** Started before the query, so that a hint during it is not missed. Resolves at the first hint, or when it is time to look. */
  next(): Promise<void> {
    this.wake();
    return new Promise((resolve) => {
      if (this.signal.aborted) return resolve();
      const timer = setTimeout(resolve, POLL_MS);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  hint(): void {
    this.wake();
  }

  noteEdit(): void {
    this.edited = true;
    this.wake();
  }

  takeEdit(): boolean {
    const { edited } = this;
    this.edited = false;
    return edited;
  }
}
