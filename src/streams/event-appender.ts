import { Injectable } from '@nestjs/common';
import { isContentError } from '../database/unstorable-text';
import { EventLogRepository } from './event-log.repository';
import type { NewRunEvent } from './run-event';

/**
 * Time after a write for which events are collected for the next one, at least: readers don't notice a few milliseconds. The first
 * events after a longer silence, such as those of a run that begins, are written at once.
 */
const COLLECT_MS = 3;
const COLLECT_EVENTS = 64;
/**
 * Pause after a write, as a multiple of the time that the write took. A write costs nearly as much with one token of each run
 * as with several, so the more runs emit and the busier the machine is, the more each write should hold.
 */
const PAUSE_PER_WRITE = 6;
/** Longest pause for each run of the write: a pause saves little for few runs, also where the database is far away. */
const MAX_PAUSE_PER_RUN_MS = 1;
/** Longest pause: two tokens of a model 20 ms apart arrive together, which their reader doesn't notice. */
const MAX_PAUSE_MS = 30;
/** Events that end a pause. */
const PAUSE_EVENTS = 1_000;
/** A notification carries the ids of its runs and may have 8,000 bytes. */
const MAX_EVENTS = 2_000;
const MAX_RUNS = 200;

interface Batch {
  events: NewRunEvent[];
  /** Runs whose events another attempt writes. */
  withdrawn: Set<string>;
  /** Runs with an event that can't be stored, each with the database's reason. */
  unstorable: Map<string, unknown>;
  done: Promise<Set<string>>;
  resolve: (held: Set<string>) => void;
  reject: (error: unknown) => void;
}

/** Another attempt owns the run, so this one's events are refused. */
export class EventsRefused extends Error {
  constructor(runId: string) {
    super(`The run ${runId} is held by another attempt`);
    this.name = 'EventsRefused';
  }
}

/** Collects the events of all runs of a worker into few, ordered writes, with one in flight at a time. */
@Injectable()
export class EventAppender {
  private batch = newBatch();
  /** Time of `performance.now()` at which the next write is due, and what cancels it. */
  private dueAt = Infinity;
  private cancelFlush: (() => void) | undefined;
  /** The batch in flight. */
  private writing: Batch | undefined;
  /** Times of `performance.now()` until which events are collected, and until which also more than a few are. */
  private collectsUntil = 0;
  private pausesUntil = 0;

  constructor(private readonly log: EventLogRepository) {}

  /**
   * Appends events of one run; resolves when they are committed.
   * @param patienceMs time for which they may wait for others
   * @throws {EventsRefused} when another attempt holds the run; or the database's error.
   */
  async appendEvents(runId: string, events: NewRunEvent[], patienceMs = 0): Promise<void> {
    const { batch } = this;
    batch.events.push(...events);
    this.schedule(patienceMs);
    await this.untilWritten(batch, runId);
  }

  /**
   * Takes those events of a run that are not in flight yet, for a caller who writes them with the run's end, which saves a
   * transaction. Resolves when all before them are committed.
   * @throws as `append` does
   */
  async withdraw(runId: string): Promise<NewRunEvent[]> {
    const { batch, writing } = this;
    const isOfRun = (event: NewRunEvent): boolean => event.runId === runId;
    const rest = batch.events.filter(isOfRun);
    batch.events = batch.events.filter((event) => !isOfRun(event));
    batch.withdrawn.add(runId);
    if (batch.events.length === 0) {
      // No later write reports it.
      batch.resolve(new Set());
      this.batch = newBatch();
    }
    if (writing?.events.some(isOfRun)) await this.untilWritten(writing, runId);
    return rest;
  }

  private async untilWritten({ done, withdrawn, unstorable }: Batch, runId: string): Promise<void> {
    const held = await done;
    if (unstorable.has(runId)) throw unstorable.get(runId);
    if (!held.has(runId) && !withdrawn.has(runId)) throw new EventsRefused(runId);
  }

  private schedule(patienceMs = 0): void {
    if (this.writing) return;
    const now = performance.now();
    const isFull = this.batch.events.length >= (now < this.pausesUntil ? PAUSE_EVENTS : COLLECT_EVENTS);
    const due = isFull ? now : Math.max(now + patienceMs, this.pausesUntil, this.collectsUntil);
    if (due >= this.dueAt) return;
    this.cancelFlush?.();
    this.dueAt = due;
    this.cancelFlush = afterwards(due - now, () => void this.flush());
  }

  private async flush(): Promise<void> {
    const { batch } = this;
    this.batch = newBatch();
    this.writing = batch;
    this.dueAt = Infinity;
    const since = performance.now();
    const held = new Set<string>();
    try {
      for (const part of partsOf(batch.events)) {
        for (const runId of await this.write(part, batch)) held.add(runId);
      }
      batch.resolve(held);
    } catch (error) {
      batch.reject(error);
    } finally {
      const now = performance.now();
      const pause = PAUSE_PER_WRITE * (now - since);
      this.pausesUntil = now + Math.min(pause, MAX_PAUSE_PER_RUN_MS * held.size, MAX_PAUSE_MS);
      this.collectsUntil = now + COLLECT_MS;
      this.writing = undefined;
      if (this.batch.events.length > 0) this.schedule();
    }
  }

  /** Writes in one statement, or one statement per run if an event can't be stored, so that only its run fails. */
  private async write(events: NewRunEvent[], { unstorable }: Batch): Promise<Set<string>> {
    try {
      return await this.log.appendEvents(events);
    } catch (error) {
      if (!isContentError(error)) throw error;
    }
    const held = new Set<string>();
    for (const runId of new Set(events.map((event) => event.runId))) {
      try {
        const own = events.filter((event) => event.runId === runId);
        for (const id of await this.log.appendEvents(own)) held.add(id);
      } catch (error) {
        if (!isContentError(error)) throw error;
        unstorable.set(runId, error);
      }
    }
    return held;
  }
}

/** Calls `work` after the events of this turn of the event loop, and not before `ms` milliseconds; the returned function cancels it. */
function afterwards(ms: number, work: () => void): () => void {
  if (ms > 0) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  }
  const immediate = setImmediate(work);
  return () => clearImmediate(immediate);
}

function newBatch(): Batch {
  const { promise, resolve, reject } = Promise.withResolvers<Set<string>>();
  return { events: [], withdrawn: new Set(), unstorable: new Map(), done: promise, resolve, reject };
}

/** Statements of bounded size, in order. */
function* partsOf(events: NewRunEvent[]): Generator<NewRunEvent[]> {
  let part: NewRunEvent[] = [];
  let runs = new Set<string>();
  for (const event of events) {
    if (part.length >= MAX_EVENTS || (runs.size >= MAX_RUNS && !runs.has(event.runId))) {
      yield part;
      part = [];
      runs = new Set();
    }
    part.push(event);
    runs.add(event.runId);
  }
  if (part.length > 0) yield part;
}
