import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { TenantId } from '../auth/tenant';
import { sendEvents, sseFrame } from '../http/streaming';
import { END_EVENT, type RunEvent } from '../streams/run-event';
import { ThreadsService } from '../threads/threads.service';
import type { ThreadStreamMode } from './runs.schemas';
import { runErrors } from './run.errors';
import { type Place, ThreadLog } from './thread-log';
import { type StartedRun, ThreadPositionsRepository } from './thread-positions.repository';

export interface ThreadStreamOptions {
  modes: Set<ThreadStreamMode>;
  lastEventId: string | undefined;
}

/**
 * A thread's log as server-sent events. An event's id is `<start of its run, in microseconds>-<seq in its run>`, so that the
 * stream can be rejoined anywhere, on any replica.
 */
@Injectable()
export class ThreadStreamService {
  constructor(
    private readonly log: ThreadLog,
    private readonly positions: ThreadPositionsRepository,
    private readonly threads: ThreadsService,
  ) {}

  /** @throws 404 for an unknown thread, 422 for a Last-Event-ID that doesn't belong to a thread's stream */
  async stream(
    tenantId: TenantId,
    threadId: string,
    reply: FastifyReply,
    { modes, lastEventId }: ThreadStreamOptions,
  ): Promise<void> {
    await this.threads.getThread(tenantId, threadId);
    const place = lastEventId
      ? parsePlace(lastEventId)
      : { position: await this.positions.findCurrentPosition(tenantId, threadId), seq: -1 };
    await sendEvents(reply, (signal) => this.frames(tenantId, threadId, place, modes, signal));
  }

  private async *frames(
    tenantId: TenantId,
    threadId: string,
    place: Place,
    modes: Set<ThreadStreamMode>,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    for await (const news of this.log.follow(tenantId, threadId, place, signal)) {
      if ('run' in news) yield framesOf(news.run, news.events, modes);
      else if (modes.has('state_update')) yield await this.stateFrame(tenantId, threadId, news.editedBefore);
    }
  }

  private async stateFrame(tenantId: TenantId, threadId: string, position: number): Promise<string> {
    const state = JSON.parse(await this.threads.readState(tenantId, threadId)) as unknown;
    // Before the first run nothing has a position.
    const id = position === 0 ? '-' : `${position - 1}-*`;
    return sseFrame('state_update', JSON.stringify({ state, thread_id: threadId }), id);
  }
}

function framesOf({ runId, position }: StartedRun, events: RunEvent[], modes: Set<ThreadStreamMode>): string {
  const isWanted = ({ event }: RunEvent): boolean =>
    modes.has('run_modes') || (modes.has('lifecycle') && (event === END_EVENT || event === 'metadata'));
  const frame = ({ event, data, seq }: RunEvent): string => {
    const id = `${position}-${seq}`;
    if (event === END_EVENT) return sseFrame('metadata', JSON.stringify({ status: 'run_done', run_id: runId }), id);
    return sseFrame(event, data, id);
  };
  return events.filter(isWanted).map(frame).join('');
}

/** `-` and `-1`: from the first run; `<position>`: from that run; `<position>-<seq>`: after that event; `-*`: after that run. */
function parsePlace(lastEventId: string): Place {
  if (lastEventId === '-' || lastEventId === '-1') return { position: 0, seq: -1 };
  const [, position, seq] = /^(\d{1,16})(?:-(\d{1,9}|\*))?$/.exec(lastEventId) ?? [];
  if (position === undefined) throw runErrors.lastEventIdInvalid();
  if (seq === '*') return { position: Number(position) + 1, seq: -1 };
  return { position: Number(position), seq: seq === undefined ? -1 : Number(seq) };
}
