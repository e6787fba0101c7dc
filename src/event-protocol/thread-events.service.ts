import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { TenantId } from '../auth/tenant';
import { sendEvents, sseFrame } from '../http/streaming';
import { RunsService } from '../runs/runs.service';
import { ThreadLog } from '../runs/thread-log';
import { ThreadsService } from '../threads/threads.service';
import type { EventStreamRequest } from './event-protocol.schemas';
import { isWanted, type ProtocolEvent, toEnvelope } from './protocol-event';
import { RunTranslator } from './run-translator';

/**
 * How far back a stream without a number begins: clients reconnect without one, drop by their ids the events that they had,
 * and give up after some minutes.
 */
const AWAY_SECONDS = 600;

export interface NumberedEvent extends ProtocolEvent {
  seq: number;
}

/**
 * A thread's events in the words of the event protocol. Their numbers are those of their run's start in microseconds,
 * counted on: runs of a thread are one behind the other, and no event is told in less than that.
 */
@Injectable()
export class ThreadEventsService {
  constructor(
    private readonly log: ThreadLog,
    private readonly runs: RunsService,
    private readonly threads: ThreadsService,
  ) {}

  /** Streams until the client goes, run after run. @throws 404 for an unknown thread */
  async stream(
    tenantId: TenantId,
    threadId: string,
    { since, ...filter }: EventStreamRequest,
    reply: FastifyReply,
    lastEventId: string | undefined,
  ): Promise<void> {
    await this.threads.get(tenantId, threadId);
    const seen = since ?? (lastEventId && /^\d{1,16}$/.test(lastEventId) ? Number(lastEventId) : undefined);
    const position = await this.positionBehind(tenantId, threadId, seen);
    const isNews = (event: NumberedEvent): boolean => event.seq > (seen ?? -1) && isWanted(filter, event);
    await sendEvents(reply, (signal) => this.frames(tenantId, threadId, position, isNews, signal));
  }

  private async *frames(
    tenantId: TenantId,
    threadId: string,
    position: number,
    isNews: (event: NumberedEvent) => boolean,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    for await (const events of this.follow(tenantId, threadId, position, signal)) {
      const news = events.filter(isNews);
      if (news.length === 0) continue;
      yield news.map((event) => sseFrame(event.method, toEnvelope(event, event.seq), event.seq)).join('');
    }
  }

  /**
   * Where to begin the reading of what is behind a number: at the run that the number is of.
   * @param seen undefined: at what a client may have missed for a moment
   */
  positionBehind(tenantId: TenantId, threadId: string, seen: number | undefined): Promise<number> {
    return seen === undefined
      ? this.runs.recentPosition(tenantId, threadId, AWAY_SECONDS)
      : this.runs.positionOf(tenantId, threadId, seen);
  }

  /** All events from the start of the run at `position`, and those that come. Ends when the thread is gone. */
  async *follow(
    tenantId: TenantId,
    threadId: string,
    position: number,
    signal: AbortSignal,
  ): AsyncGenerator<NumberedEvent[]> {
    let runId: string | undefined;
    let translator!: RunTranslator;
    let seq = 0;
    for await (const news of this.log.follow(tenantId, threadId, { position, seq: -1 }, signal)) {
      if (!('run' in news)) continue;
      if (news.run.runId !== runId) {
        runId = news.run.runId;
        translator = new RunTranslator(news.run.graphId);
        seq = news.run.position;
      }
      const events: NumberedEvent[] = [];
      for (const event of news.events) {
        for (const told of translator.translate(event)) events.push({ ...told, seq: (seq += 1) });
      }
      if (events.length > 0) yield events;
    }
  }
}
