import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { TenantId } from '../auth/tenant';
import { sendEvents, sseFrame } from '../http/streaming';
import { ThreadLog } from '../runs/thread-log';
import { type StartedRun, ThreadPositionsRepository } from '../runs/thread-positions.repository';
import { EventLogRepository } from '../streams/event-log.repository';
import type { RunEvent } from '../streams/run-event';
import { ThreadsService } from '../threads/threads.service';
import type { EventStreamRequest } from './event-protocol.schemas';
import { refusalOf, refuseThread, ThreadRefused } from './command-refusals';
import { type EventFilter, isWanted, type ProtocolEvent, toEnvelope } from './protocol-event';
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
 * counted on: runs of a thread are one after the other, and no event takes less than that.
 */
@Injectable()
export class ThreadEventsService {
  constructor(
    private readonly log: ThreadLog,
    private readonly events: EventLogRepository,
    private readonly positions: ThreadPositionsRepository,
    private readonly threads: ThreadsService,
  ) {}

  /**
   * Streams until the client goes, run after run. For a thread that isn't there yet, nothing comes until it is.
   * @throws {ApiError} for a thread that the custom auth keeps from the user
   */
  async stream(
    tenantId: TenantId,
    threadId: string,
    { since, ...filter }: EventStreamRequest,
    reply: FastifyReply,
    lastEventId: string | undefined,
  ): Promise<void> {
    const isThere = (await this.threads.getIfThere(tenantId, threadId)) !== null;
    const seen = since ?? (lastEventId && /^\d{1,16}$/.test(lastEventId) ? Number(lastEventId) : undefined);
    const isNews = newsOf(filter, seen);
    await sendEvents(reply, (signal) => this.frames({ tenantId, threadId, isThere, seen, isNews }, signal));
  }

  private async *frames(reading: Reading, signal: AbortSignal): AsyncGenerator<string> {
    const { tenantId, threadId, isThere, seen, isNews } = reading;
    try {
      if (!isThere && !(await this.untilReadable(tenantId, threadId, signal))) return;
    } catch (error) {
      if (!(error instanceof ThreadRefused)) throw error;
      yield sseFrame('error', JSON.stringify(refusalOf(null, error.reason)));
      return;
    }
    const position = await this.findPositionAfter(tenantId, threadId, seen);
    for await (const events of this.follow(tenantId, threadId, position, signal)) {
      const news = events.filter(isNews);
      if (news.length === 0) continue;
      yield news.map((event) => sseFrame(event.method, toEnvelope(event, event.seq), event.seq)).join('');
    }
  }

  /**
   * Waits until the thread is there, and asks then whether the user may read it.
   * @returns false when the reader went before
   * @throws {ThreadRefused}
   */
  async untilReadable(tenantId: TenantId, threadId: string, signal: AbortSignal): Promise<boolean> {
    if (!(await this.log.whenThere(tenantId, threadId, signal))) return false;
    await this.threads.getThread(tenantId, threadId).catch(refuseThread);
    return true;
  }

  /** Number of the thread's events so far that follow a sequence number and match the subscription. */
  async countEventsAfter(
    tenantId: TenantId,
    threadId: string,
    seen: number | undefined,
    filter: EventFilter,
  ): Promise<number> {
    const isNews = newsOf(filter, seen);
    let count = 0;
    for (let position = await this.findPositionAfter(tenantId, threadId, seen); ;) {
      const run = await this.positions.findStartedRun(tenantId, threadId, position);
      if (!run) return count;
      const numbering = new Numbering(run);
      for await (const page of this.events.readAll(run.runId)) count += numbering.of(page).filter(isNews).length;
      position = run.position + 1;
    }
  }

  /**
   * Position at which to read the events after a number: that of the run which the number belongs to.
   * @param seen undefined: at what a client may have missed for a moment
   */
  findPositionAfter(tenantId: TenantId, threadId: string, seen: number | undefined): Promise<number> {
    return seen === undefined
      ? this.positions.findRecentPosition(tenantId, threadId, AWAY_SECONDS)
      : this.positions.findPositionOf(tenantId, threadId, seen);
  }

  /** All events from the start of the run at `position`, and those that come. Ends when the thread is gone. */
  async *follow(
    tenantId: TenantId,
    threadId: string,
    position: number,
    signal: AbortSignal,
  ): AsyncGenerator<NumberedEvent[]> {
    let runId: string | undefined;
    let numbering!: Numbering;
    for await (const news of this.log.follow(tenantId, threadId, { position, seq: -1 }, signal)) {
      if (!('run' in news)) continue;
      if (news.run.runId !== runId) {
        runId = news.run.runId;
        numbering = new Numbering(news.run);
      }
      const events = numbering.of(news.events);
      if (events.length > 0) yield events;
    }
  }
}

type IsNews = (event: NumberedEvent) => boolean;

interface Reading {
  tenantId: TenantId;
  threadId: string;
  /** Whether the thread was there, and the user let through to it, before the stream began. */
  isThere: boolean;
  /** Number of the last event that the reader has; undefined: it does not say. */
  seen: number | undefined;
  isNews: IsNews;
}

function newsOf(filter: EventFilter, seen = -1): IsNews {
  return (event) => event.seq > seen && isWanted(filter, event);
}

/** The events of one run, page by page from its beginning, in the words of the protocol and with their numbers. */
class Numbering {
  private readonly translator: RunTranslator;
  private seq: number;

  constructor({ graphId, position }: StartedRun) {
    this.translator = new RunTranslator(graphId);
    this.seq = position;
  }

  of(page: RunEvent[]): NumberedEvent[] {
    return page.flatMap((event) =>
      [...this.translator.translate(event)].map((each) => ({ ...each, seq: (this.seq += 1) })),
    );
  }
}
