import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { TenantId } from '../auth/tenant';
import { sendEvents, sseFrame } from '../http/streaming';
import { type Place, ThreadLog } from '../runs/thread-log';
import { type StartedRun, ThreadPositionsRepository } from '../runs/thread-positions.repository';
import { EventLogRepository } from '../streams/event-log.repository';
import { END_EVENT, type RunEvent } from '../streams/run-event';
import { ThreadsService } from '../threads/threads.service';
import type { EventStreamRequest } from './event-protocol.schemas';
import { refusalOf, refuseThread, ThreadRefused } from './command-refusals';
import { type EventFilter, isWanted, type NamespaceView, type ProtocolEvent, toEnvelope } from './protocol-event';
import { RunTranslator } from './run-translator';

/**
 * How far back a stream without a number begins: clients reconnect without one, drop by their ids the events that they had,
 * and give up after some minutes.
 */
const AWAY_SECONDS = 600;

/**
 * Limits of events that are read ahead for one subscription: 1,000 tokens or some states, so that there is memory for thousands
 * of sockets.
 */
const AHEAD_EVENTS = 1_000;
const AHEAD_CHARACTERS = 1_000_000;

/** Data from the headers of a stream's request. */
export interface EventStreamHeaders {
  lastEventId: string | undefined;
  view: NamespaceView;
}

export interface NumberedEvent extends ProtocolEvent {
  seq: number;
}

/**
 * A thread's events in the format of the event protocol. Their numbers are those of their run's start in microseconds, counted
 * on: runs of a thread are one after the other, and no event takes less than that.
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
   * Streams run after run until the client disconnects. For a thread that doesn't exist yet, the first event follows its
   * creation.
   * @throws {ApiError} for a thread that the custom auth excludes
   */
  async stream(
    tenantId: TenantId,
    threadId: string,
    { since, ...wanted }: EventStreamRequest,
    reply: FastifyReply,
    { lastEventId, view }: EventStreamHeaders,
  ): Promise<void> {
    const isThere = (await this.threads.getIfThere(tenantId, threadId)) !== null;
    const seen = since ?? (lastEventId && /^\d{1,16}$/.test(lastEventId) ? Number(lastEventId) : undefined);
    const isNews = newsOf({ ...wanted, view }, seen);
    await sendEvents(reply, (signal) => this.frames({ tenantId, threadId, isThere, seen, isNews, view }, signal));
  }

  private async *frames(reading: Reading, signal: AbortSignal): AsyncGenerator<string> {
    const { tenantId, threadId, isThere, seen, isNews, view } = reading;
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
      yield news.map((event) => sseFrame(event.method, toEnvelope(event, event.seq, view), event.seq)).join('');
    }
  }

  /**
   * Waits until the thread exists, and checks then whether the user may read it.
   * @returns false if the reader disconnected before
   * @throws {ThreadRefused}
   */
  async untilReadable(tenantId: TenantId, threadId: string, signal: AbortSignal): Promise<boolean> {
    if (!(await this.log.whenThere(tenantId, threadId, signal))) return false;
    await this.threads.getThread(tenantId, threadId).catch(refuseThread);
    return true;
  }

  /** Reads the events that are there from the start of the run at `position`, as far as they may be kept in memory. */
  async readAhead(tenantId: TenantId, threadId: string, position: number): Promise<ReadAhead> {
    const ahead: ReadAhead = { position, events: [], isWhole: true, next: { position, seq: -1 } };
    let run = await this.positions.findStartedRun(tenantId, threadId, position);
    while (run) {
      const after = run.position + 1;
      ahead.run = new Numbering(run);
      ahead.next = { position: run.position, seq: -1 };
      await this.readRest(ahead, ahead.run);
      if (!ahead.isWhole) return ahead;
      run = await this.positions.findStartedRun(tenantId, threadId, after);
      // A later run begins when this one has ended: what was missing of its log, unless it expired, has come since it was read.
      if (run && ahead.next.position < after) await this.readRest(ahead, ahead.run);
      if (!ahead.isWhole) return ahead;
    }
    return ahead;
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

  /** Adds what the log of a run has after the place that was reached, until there are too many events. */
  private async readRest(ahead: ReadAhead, numbering: Numbering): Promise<void> {
    const { runId, position } = numbering.run;
    for await (const page of this.events.readAll(runId, ahead.next.seq)) {
      ahead.events.push(...numbering.of(page));
      const { event, seq } = page.at(-1)!;
      ahead.next = event === END_EVENT ? { position: position + 1, seq: -1 } : { position, seq };
      if (isTooMuch(ahead.events)) {
        ahead.isWhole = false;
        return;
      }
    }
  }

  /** All events from the start of the run at `position`, and those that come. Ends when the thread is gone. */
  follow(tenantId: TenantId, threadId: string, position: number, signal: AbortSignal): AsyncGenerator<NumberedEvent[]> {
    const nothing: ReadAhead = { position, events: [], isWhole: false, next: { position, seq: -1 } };
    return this.continue(tenantId, threadId, nothing, signal);
  }

  /** The events that were read ahead, and those after them as they come. Ends when the thread is gone. */
  async *continue(
    tenantId: TenantId,
    threadId: string,
    { events, next, run: numberedBefore }: ReadAhead,
    signal: AbortSignal,
  ): AsyncGenerator<NumberedEvent[]> {
    if (events.length > 0) yield events;
    let numbering = numberedBefore;
    for await (const news of this.log.follow(tenantId, threadId, next, signal)) {
      if (!('run' in news)) continue;
      if (news.run.runId !== numbering?.run.runId) numbering = new Numbering(news.run);
      const page = numbering.of(news.events);
      if (page.length > 0) yield page;
    }
  }
}

/** Events of a thread that were read before they are emitted. */
export interface ReadAhead {
  /** Where the reading began. */
  position: number;
  events: NumberedEvent[];
  /** Whether these are all events that are there. */
  isWhole: boolean;
  /** Where the reading continues. */
  next: Place;
  /** The run of the last events: its translation continues with it. */
  run?: Numbering;
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
  view: NamespaceView;
}

/** Whether no more events may be read ahead than these. */
function isTooMuch(events: NumberedEvent[]): boolean {
  return events.length > AHEAD_EVENTS || events.reduce((sum, { data }) => sum + data.length, 0) > AHEAD_CHARACTERS;
}

/** Whether an event follows a sequence number and matches a subscription. */
export function newsOf(filter: EventFilter, seen = -1): IsNews {
  return (event) => event.seq > seen && isWanted(filter, event);
}

/** The events of one run, page by page from its beginning, in the words of the protocol and with their numbers. */
class Numbering {
  private readonly translator: RunTranslator;
  private seq: number;

  constructor(readonly run: StartedRun) {
    this.translator = new RunTranslator(run.graphId);
    this.seq = run.position;
  }

  of(page: RunEvent[]): NumberedEvent[] {
    return page.flatMap((event) =>
      [...this.translator.translate(event)].map((each) => ({ ...each, seq: (this.seq += 1) })),
    );
  }
}
