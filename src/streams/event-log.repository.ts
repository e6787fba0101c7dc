import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { storedTextColumn } from '../database/at-rest';
import { prepared } from '../patches/pg/prepared-statements';
import { eventsOf, type EventRow, toRows } from './event-rows';
import { END_EVENT, type EmittedEvents, type NewRunEvent, RUN_EVENTS_CHANNEL, type RunEvent } from './run-event';

export interface EventQuery {
  runId: string;
  /** Only events with a higher seq are read; -1 for all. */
  after: number;
}

/** Events of a run in their order, as many as one read returns. */
export interface EventPage {
  events: RunEvent[];
  /** Whether the log had no more events when they were read; false also where that is not known. */
  isLast: boolean;
}

/** Maximum of events in one read of a run: a slow reader holds one page at a time. */
const PAGE_EVENTS = 200;
/** Bytes after which a page ends, since each state may have megabytes. */
const PAGE_BYTES = 2 * 1024 * 1024;

/** Results of nodes beside a lost one: hardly any graph runs more nodes at once. */
const EMITTED_UPDATES = 100;
/** A step may have the ends of this many tasks. */
const EMITTED_FACTS = 10_000;

const ROW = `SELECT first_seq AS "firstSeq", seq, event, data FROM run_events`;

/**
 * Writes the events of attempts that own their runs, and resolves to these runs. The rows of runs are looked up by their ids
 * alone: with a condition on the status beside them, the planner prefers the index of all running runs, and reads all of them.
 */
const APPEND = prepared(
  'append-events',
  `WITH input AS (
    SELECT * FROM unnest($1::uuid[], $2::int[], $3::int[], $4::int[], $5::uuid[], $6::text[], $7::text[], $8::text[])
      AS input (run_id, attempt, first_seq, seq, tenant_id, event, data, fact)
  ), locked AS MATERIALIZED (
    SELECT run_id, attempt, status FROM runs WHERE run_id = ANY ($1) FOR SHARE
  ), held AS MATERIALIZED (
    SELECT run_id, attempt FROM locked
    WHERE (run_id, attempt) IN (SELECT run_id, attempt FROM input) AND status = 'running'
  ), written AS (
    INSERT INTO run_events (run_id, first_seq, seq, tenant_id, event, data, fact)
    SELECT run_id, first_seq, seq, tenant_id, event, data, fact FROM input JOIN held USING (run_id, attempt)
  )
  SELECT coalesce(array_agg(run_id), '{}') AS held,
         pg_notify('${RUN_EVENTS_CHANNEL}', coalesce(string_agg(run_id::text, ','), ''))
  FROM held`,
);

/**
 * Reads the next page of each of the runs, and at least one row, whatever is missing before it: of a deleted run, only the end is
 * left. The LIMIT keeps the planner's estimate at one entry of the lists; otherwise it assumes ten and rejects the generic plan.
 */
const READ_PAGES = prepared(
  'read-events',
  `SELECT asked.index, event."firstSeq", event.seq, event.event, event.data, event.bytes
  FROM (
    SELECT * FROM unnest($1::uuid[], $2::int[]) WITH ORDINALITY AS asked (run_id, after, index) LIMIT cardinality($1)
  ) AS asked
  CROSS JOIN LATERAL (
    SELECT first_seq AS "firstSeq", seq, event, data, bytes, sum(bytes) OVER (ORDER BY seq) - bytes AS bytes_before
    FROM (
      SELECT first_seq, seq, event, data, octet_length(data) AS bytes FROM run_events
      WHERE run_events.run_id = asked.run_id AND run_events.seq > asked.after
      ORDER BY seq LIMIT ${PAGE_EVENTS}
    ) AS newest
  ) AS event
  WHERE event.bytes_before < ${PAGE_BYTES}
    AND (coalesce(event."firstSeq", event.seq) <= asked.after + ${PAGE_EVENTS} OR event.bytes_before = 0)
  ORDER BY asked.index, event.seq`,
);

const READ_ENDS = prepared(
  'read-ends',
  `SELECT asked.index, event.seq, event.event, event.data
  FROM (SELECT * FROM unnest($1::uuid[]) WITH ORDINALITY AS asked (run_id, index) LIMIT cardinality($1)) AS asked
  CROSS JOIN LATERAL (
    SELECT seq, event, data FROM run_events WHERE run_events.run_id = asked.run_id ORDER BY seq DESC LIMIT 1
  ) AS event
  WHERE event.event = '${END_EVENT}'`,
);

/** The log of run events in Postgres: `(run_id, seq)`, partitioned by the run's day. */
@Injectable()
export class EventLogRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** The last event of these kinds that a run has reported. */
  async lastOf(runId: string, events: string[]): Promise<RunEvent | undefined> {
    const [last] = await this.database.query<EventRow[]>(
      `${ROW} WHERE run_id = $1 AND event = ANY($2) ORDER BY seq DESC LIMIT 1`,
      [runId, events],
    );
    return last && eventsOf(last).at(-1);
  }

  /**
   * Writes a batch of events of many runs in one statement with one notification, and only those of attempts that still own
   * their runs: the row lock keeps another attempt from beginning in between.
   * @param events in their order, without gaps within an attempt
   * @returns ids of the runs that are owned
   */
  async appendEvents(events: NewRunEvent[]): Promise<Set<string>> {
    const ofAttempts = Map.groupBy(events, ({ runId, attempt }) => `${runId} ${attempt}`);
    const rows = [...ofAttempts.values()].flatMap((own) =>
      toRows(own, own[0].seq).map(({ fact, ...row }) => ({ ...own[0], ...row, fact })),
    );
    const column = <K extends keyof (typeof rows)[0]>(key: K): (typeof rows)[0][K][] => rows.map((row) => row[key]);
    const [{ held }]: [{ held: string[] }] = await this.database.query(APPEND, [
      ...[column('runId'), column('attempt'), column('firstSeq'), column('seq'), column('tenantId')],
      column('event'),
      storedTextColumn('run', 'events', column('data'), column('encryptionContext')),
      column('fact'),
    ]);
    return new Set(held);
  }

  /** Sequence number of the last event of a checkpoint; -1 when the log has none. */
  async positionOf(runId: string, checkpointId: string): Promise<number> {
    const [{ seq }] = await this.database.query<[{ seq: number | null }]>(
      `SELECT max(seq) AS seq FROM run_events WHERE run_id = $1 AND fact = $2`,
      [runId, checkpointId],
    );
    return seq ?? -1;
  }

  /** Reads what a repeated attempt needs to emit each event once: the newest `updates` of a run, and its committed events. */
  async findEmitted(runId: string): Promise<EmittedEvents> {
    const [updates, facts] = await Promise.all([
      this.database.query<EventRow[]>(
        `${ROW} WHERE run_id = $1 AND event LIKE 'updates%' ORDER BY seq DESC LIMIT ${EMITTED_UPDATES}`,
        [runId],
      ),
      this.database.query<{ emitted: string }[]>(
        `SELECT event || ' ' || fact AS emitted FROM run_events WHERE run_id = $1 AND fact IS NOT NULL
         ORDER BY seq DESC LIMIT ${EMITTED_FACTS}`,
        [runId],
      ),
    ]);
    const newest = updates.flatMap((row) => eventsOf(row).reverse()).slice(0, EMITTED_UPDATES);
    const byName = Object.entries(Object.groupBy(newest, ({ event }) => event));
    return {
      updates: Object.fromEntries(byName.map(([event, each = []]) => [event, each.map(({ data }) => data)])),
      facts: facts.map(({ emitted }) => emitted),
    };
  }

  /** The next page of each asked run, in one query. */
  async readMany(queries: EventQuery[]): Promise<EventPage[]> {
    const rows: (EventRow & { index: string; bytes: number })[] = await this.database.query(READ_PAGES, [
      queries.map(({ runId }) => runId),
      queries.map(({ after }) => after),
    ]);
    const pages = queries.map(({ after }) => ({ after, events: [] as RunEvent[], bytes: 0 }));
    for (const { index, bytes, ...row } of rows) {
      const page = pages[Number(index) - 1];
      page.events.push(...eventsOf(row, page.after));
      page.bytes += bytes;
    }
    return pages.map(({ events, bytes }) => ({ events, isLast: events.length < PAGE_EVENTS && bytes < PAGE_BYTES }));
  }

  /**
   * The events of a run so far, page by page.
   * @param after sequence number after which they begin
   */
  async *readAll(runId: string, after = -1): AsyncGenerator<RunEvent[]> {
    for (let position = after; ;) {
      const [{ events, isLast }] = await this.readMany([{ runId, after: position }]);
      if (events.length > 0) yield events;
      if (isLast) return;
      position = events.at(-1)!.seq;
    }
  }

  /** Reads, for each of the runs, the event that ends its log, if there is one. */
  async readEnds(runIds: string[]): Promise<(RunEvent | undefined)[]> {
    const rows: (RunEvent & { index: string })[] = await this.database.query(READ_ENDS, [runIds]);
    const ends = new Map(rows.map(({ index, ...event }) => [Number(index) - 1, event]));
    return runIds.map((_, index) => ends.get(index));
  }
}
