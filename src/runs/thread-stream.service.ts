import { Injectable, OnModuleInit } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { TenantId } from '../auth/tenant';
import { Notifications } from '../database/notifications';
import { sseFrame, SseResponse } from '../http/streaming';
import { EventReader } from '../streams/event-reader';
import { END_EVENT, type RunEvent, THREAD_STATE_CHANNEL } from '../streams/run-event';
import { ThreadsService } from '../threads/threads.service';
import type { StartedRun } from './runs.repository';
import type { ThreadStreamMode } from './runs.schemas';
import { RunsService } from './runs.service';
import { runErrors } from './run.errors';

export interface ThreadStreamOptions {
  modes: Set<ThreadStreamMode>;
  lastEventId: string | undefined;
}

/** A place in a thread's stream: behind event `seq` of the run at `position`. */
interface Place {
  position: number;
  seq: number;
}

/** How long a stream waits for a hint before it looks by itself for the next run. */
const POLL_MS = 1_000;

/**
 * The stream of a thread is that of its runs, one behind the other: a thread has one running run at a time. An event's id is
 * `<start of its run, in microseconds>-<seq in its run>`, so that it can be rejoined anywhere, on any replica.
 */
@Injectable()
export class ThreadStreamService implements OnModuleInit {
  /** Thread → streams that want to know of edits of its state. */
  private readonly edits = new Map<string, Set<() => void>>();

  constructor(
    private readonly reader: EventReader,
    private readonly runs: RunsService,
    private readonly threads: ThreadsService,
    private readonly notifications: Notifications,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.notifications.subscribe(THREAD_STATE_CHANNEL, (threadId) => {
      for (const tell of this.edits.get(threadId) ?? []) tell();
    });
  }

  /** @throws 404 for an unknown thread, 422 for a Last-Event-ID that is none of a thread's stream */
  async stream(
    tenantId: TenantId,
    threadId: string,
    reply: FastifyReply,
    { modes, lastEventId }: ThreadStreamOptions,
  ): Promise<void> {
    await this.threads.get(tenantId, threadId);
    const place = lastEventId
      ? parsePlace(lastEventId)
      : { position: await this.runs.currentPosition(tenantId, threadId), seq: -1 };
    const response = new SseResponse(reply, {});
    for await (const frames of this.follow(tenantId, threadId, place, modes, response.signal)) {
      await response.write(frames);
    }
    if (!response.signal.aborted) response.end();
  }

  /** Ends with the client, or with the thread. */
  private async *follow(
    tenantId: TenantId,
    threadId: string,
    place: Place,
    modes: Set<ThreadStreamMode>,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    let { position, seq } = place;
    const watch = new Watch(signal);
    const unwatch = this.reader.watch(() => watch.hint());
    const unlisten = this.listen(threadId, () => watch.noteEdit());
    try {
      while (!signal.aborted) {
        const hinted = watch.next();
        // A state is edited only while no run is on the thread: behind the last run and before the next.
        if (watch.takeEdit() && modes.has('state_update')) yield await this.stateFrame(tenantId, threadId, position);
        const run = await this.runs.findStarted(tenantId, threadId, position);
        if (run) {
          yield* this.followRun(tenantId, run, run.position === position ? seq : -1, modes, signal);
          position = run.position + 1;
          seq = -1;
        } else if (!(await hinted) && !(await this.threads.find(tenantId, threadId))) {
          return;
        }
      }
    } finally {
      unwatch();
      unlisten();
    }
  }

  private async *followRun(
    tenantId: TenantId,
    { runId, position }: StartedRun,
    after: number,
    modes: Set<ThreadStreamMode>,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    const isOver = async (): Promise<boolean> => {
      const run = await this.runs.find(tenantId, runId);
      return !run || (run.status !== 'pending' && run.status !== 'running');
    };
    const frame = ({ event, data, seq }: RunEvent): string => {
      const id = `${position}-${seq}`;
      if (event === END_EVENT) return sseFrame('metadata', JSON.stringify({ status: 'run_done', run_id: runId }), id);
      return sseFrame(event, data, id);
    };
    const isWanted = ({ event }: RunEvent): boolean =>
      modes.has('run_modes') || (modes.has('lifecycle') && (event === END_EVENT || event === 'metadata'));
    for await (const events of this.reader.follow(runId, after, signal, isOver)) {
      yield events.filter(isWanted).map(frame).join('');
    }
  }

  private async stateFrame(tenantId: TenantId, threadId: string, position: number): Promise<string> {
    const state = JSON.parse(await this.threads.state(tenantId, threadId)) as unknown;
    return sseFrame('state_update', JSON.stringify({ state, thread_id: threadId }), `${position - 1}-*`);
  }

  private listen(threadId: string, tell: () => void): () => void {
    const listeners = this.edits.get(threadId) ?? new Set();
    this.edits.set(threadId, listeners.add(tell));
    return () => {
      listeners.delete(tell);
      if (listeners.size === 0) this.edits.delete(threadId);
    };
  }
}

/** What a stream that waits is told: that there may be something to read. */
class Watch {
  private edited = false;
  private wake: (hinted: boolean) => void = () => undefined;

  constructor(private readonly signal: AbortSignal) {
    signal.addEventListener('abort', () => this.wake(false));
  }

  /** Begun before the look, so that what comes during it is not missed. Resolves to whether there was a hint. */
  next(): Promise<boolean> {
    this.wake(false);
    return new Promise((resolve) => {
      if (this.signal.aborted) return resolve(false);
      const timer = setTimeout(() => resolve(false), POLL_MS);
      this.wake = (hinted) => {
        clearTimeout(timer);
        resolve(hinted);
      };
    });
  }

  hint(): void {
    this.wake(true);
  }

  noteEdit(): void {
    this.edited = true;
    this.wake(true);
  }

  takeEdit(): boolean {
    const { edited } = this;
    this.edited = false;
    return edited;
  }
}

/** `-` and `-1`: from the first run; `<position>`: from that run; `<position>-<seq>`: behind that event; `-*`: behind that run. */
function parsePlace(lastEventId: string): Place {
  if (lastEventId === '-' || lastEventId === '-1') return { position: 0, seq: -1 };
  const [, position, seq] = /^(\d{1,16})(?:-(\d{1,9}|\*))?$/.exec(lastEventId) ?? [];
  if (position === undefined) throw runErrors.lastEventIdInvalid();
  if (seq === '*') return { position: Number(position) + 1, seq: -1 };
  return { position: Number(position), seq: seq === undefined ? -1 : Number(seq) };
}
