import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { connectionNameOf } from '../database/process-id';
import { KEEP_ALIVE } from '../database/silent-connections';
import { holderOf } from '../../workflows/contracts/queues';
import { hasEnded, identityOf } from './process-identity';

/**
 * Class of the advisory locks of owners; the second key of the lock is the owner's id. The number is arbitrary, but unused
 * elsewhere.
 */
const OWNER_LOCKS = 4_201_978;
const LOOK_MS = 300;
/** Looks for absent owners between two for silent ones, whose query takes Postgres longer. */
const LOOKS_PER_SILENCE = 4;
const RECONNECT_MS = 100;
/** Time after which a connection without any answer counts as lost. */
const SILENCE_MS = 10_000;

/**
 * The upsert and the lock are one statement: another process deletes a lost owner's row while it holds that owner's lock, so a
 * lock that was taken always belongs to a row that is there.
 */
const REGISTER = `
  WITH registered AS (
    INSERT INTO run_owners (task_queue, server_started_at, starts_workflows, process)
    VALUES ($1, pg_postmaster_start_time(), $2, $3)
    ON CONFLICT (task_queue) DO UPDATE SET server_started_at = excluded.server_started_at
    RETURNING owner_id
  )
  SELECT pg_try_advisory_lock(${OWNER_LOCKS}, owner_id) AS locked FROM registered`;

/** Locks of the owners with a session, in a join of `run_owners` with `pg_locks`. */
const IS_HELD = `
  locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid = ${OWNER_LOCKS} AND objid = owner_id::oid AND objsubid = 2 AND granted`;

const FIND_ABSENT = `
  SELECT owner_id AS "ownerId", task_queue AS "taskQueue", process,
         server_started_at IS DISTINCT FROM pg_postmaster_start_time() AS "endedWithServer"
  FROM run_owners
  WHERE NOT EXISTS (SELECT FROM pg_locks WHERE ${IS_HELD})`;

/**
 * Ends the sessions of owners that have not looked for others for this long: these are frozen, or cut off from the server. A user may
 * end only its own sessions.
 */
const END_SILENT = `
  SELECT pg_terminate_backend(session.pid)
  FROM run_owners
  JOIN pg_locks held ON ${IS_HELD}
  JOIN pg_stat_activity session ON session.pid = held.pid
  WHERE session.usename = current_user AND session.state = 'idle'
    AND session.state_change < clock_timestamp() - $1 * interval '1 millisecond'`;

/**
 * Ends the other sessions of a lost owner. If it is frozen or cut off within a transaction, its rows would stay locked, and those that take
 * its runs over would wait for it.
 */
const END_CONNECTIONS = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE usename = current_user AND datname = current_database() AND application_name = $1`;

/** Runs that a worker left when it stopped wait where nothing polls: its row stays, and another worker hands them over. */
const UNREGISTER = `
  DELETE FROM run_owners o
  WHERE task_queue = $1 AND NOT EXISTS (SELECT FROM runs r WHERE r.status = 'running' AND r.task_queue = o.task_queue)`;

/** An owner without a session. */
interface AbsentOwner {
  ownerId: number;
  taskQueue: string;
  /** Identity of its process; null if it is unknown. */
  process: string | null;
  /** Whether its session was with a server that has been restarted since. */
  endedWithServer: boolean;
}

/** How long an owner has been seen without a session. */
interface Absence {
  /** Time by `performance.now()`. */
  since: number;
  /** Whether an outage rather than the end of the process may have ended the session. */
  isOutage: boolean;
  /** Whether an attempt to hand its runs over has failed. */
  isRepeated: boolean;
}

export interface OwnerSessionOptions {
  databaseUrl: string;
  /** Task queue of this process, which is its name in the rows of its runs. */
  taskQueue: string;
  /** Whether this process starts the workflows of the runs that it begins by itself. */
  startsWorkflows: boolean;
  /** How long an owner may be without a session, in milliseconds: a living one reconnects within it. */
  absenceMs: number;
  /** The same after an outage of Postgres or the network, which ends the sessions of all owners and lets them reconnect in any order. */
  absenceAfterOutageMs: number;
  /** How long an owner may do nothing in its session, in milliseconds: a living one looks for others much more often. */
  silenceMs: number;
  /** Called in one process for each lost owner, and again when it rejects. */
  onLost: (taskQueue: string) => Promise<void>;
}

/**
 * The session with Postgres by which other processes see that this one lives, and by which it sees them. The kernel closes the
 * connections of a process that is killed, so its lock is free at once. A process that is frozen or cut off keeps its session, but is
 * silent there: another one then ends the session. A process that others on its machine see to have ended is lost at once; the others
 * may only have lost their sessions, and have some time to return.
 *
 * Only a process that has a session itself declares others lost, and only by what it observes during that session. A living
 * process that is declared lost by mistake loses its runs to others, which is safe: their fencing tokens refuse its writes.
 */
export class OwnerSession {
  private readonly logger = new Logger(OwnerSession.name);
  private readonly stopping = new AbortController();
  private serving: Promise<void> = Promise.resolve();

  constructor(private readonly options: OwnerSessionOptions) {}

  start(): void {
    this.serving = this.serve();
  }

  /** Ends the session of a process that no longer executes runs. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.serving;
  }

  private async serve(): Promise<void> {
    // One warning for each outage.
    let isWarned = false;
    let hadSession = false;
    while (!this.stopping.signal.aborted) {
      const session = new Session(this.options.databaseUrl, this.stopping.signal);
      try {
        await session.open();
        isWarned = false;
        const isAfterOutage = hadSession;
        hadSession = true;
        await this.hold(session, isAfterOutage);
      } catch (error) {
        if (!isWarned) this.logger.warn({ err: error }, 'No session for the runs of this process: it reconnects');
        isWarned = true;
      } finally {
        await session.close();
      }
      await pause(RECONNECT_MS, this.stopping.signal);
    }
  }

  private async hold(session: Session, isAfterOutage: boolean): Promise<void> {
    // Not free yet if the server hasn't noticed the end of the previous session, or while the runs are being handed over.
    while (!(await this.isRegistered(session))) await session.pause(LOOK_MS);
    const absences = new Map<number, Absence>();
    // What ended this owner's session before this one may have ended theirs.
    let isOutagePossible = isAfterOutage;
    for (let looks = 0; !session.ended.aborted; looks += 1) {
      if (looks % LOOKS_PER_SILENCE === 0) await session.query(END_SILENT, [this.options.silenceMs]);
      await this.look(session, absences, isOutagePossible);
      isOutagePossible = false;
      await session.pause(LOOK_MS);
    }
    if (this.stopping.signal.aborted) {
      await session.query(UNREGISTER, [this.options.taskQueue]);
    }
  }

  private async isRegistered(session: Session): Promise<boolean> {
    const { taskQueue, startsWorkflows } = this.options;
    const [{ locked }] = await session.query<{ locked: boolean }>(REGISTER, [
      taskQueue,
      startsWorkflows,
      identityOf(process.pid),
    ]);
    return locked || session.ended.aborted;
  }

  /**
   * @param absences those seen so far in this session, by owner
   * @param isOutagePossible whether an outage may be why an owner is seen absent for the first time now
   */
  private async look(session: Session, absences: Map<number, Absence>, isOutagePossible: boolean): Promise<void> {
    const absent = await session.query<AbsentOwner>(FIND_ABSENT);
    const ids = new Set(absent.map(({ ownerId }) => ownerId));
    for (const ownerId of absences.keys()) if (!ids.has(ownerId)) absences.delete(ownerId);
    for (const owner of absent) {
      const isOutage = isOutagePossible || owner.endedWithServer;
      const absence = absences.get(owner.ownerId) ?? { since: performance.now(), isOutage, isRepeated: false };
      absences.set(owner.ownerId, absence);
      const { absenceMs, absenceAfterOutageMs } = this.options;
      const isLong = performance.now() - absence.since >= (absence.isOutage ? absenceAfterOutageMs : absenceMs);
      const isCertain = !absence.isRepeated && owner.process !== null && hasEnded(owner.process);
      if (!isLong && !isCertain) continue;
      // Another process may be doing it, or this one may fail: the owner is only declared lost again after the full time.
      absences.set(owner.ownerId, { since: performance.now(), isOutage, isRepeated: true });
      await this.giveUp(session, owner);
    }
  }

  /** The lost owner's own lock keeps other processes from doing the same, and the owner from returning meanwhile. */
  private async giveUp(session: Session, { ownerId, taskQueue }: AbsentOwner): Promise<void> {
    const [{ locked }] = await session.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_lock(${OWNER_LOCKS}, $1) AS locked`,
      [ownerId],
    );
    if (!locked) return;
    try {
      const known = await session.query(`SELECT FROM run_owners WHERE owner_id = $1`, [ownerId]);
      if (known.length === 0) return;
      this.logger.warn({ task_queue: taskQueue }, 'A worker lost its session: its runs are handed over');
      await session.query(END_CONNECTIONS, [connectionNameOf(holderOf(taskQueue))]);
      await session.during(this.options.onLost(taskQueue));
      await session.query(`DELETE FROM run_owners WHERE owner_id = $1`, [ownerId]);
    } catch (error) {
      this.logger.warn({ err: error, task_queue: taskQueue }, 'Runs of a lost worker are not handed over yet');
    } finally {
      await session.query(`SELECT pg_advisory_unlock(${OWNER_LOCKS}, $1)`, [ownerId]);
    }
  }
}

/** A connection outside of the pools, whose end is noticed at once. */
class Session {
  private readonly client: Client;
  private readonly lost = new AbortController();
  /** Aborted when the connection breaks, or when it is no longer wanted. */
  readonly ended: AbortSignal;

  constructor(connectionString: string, unwanted: AbortSignal) {
    this.client = new Client({
      connectionString,
      ...KEEP_ALIVE,
      connectionTimeoutMillis: SILENCE_MS,
      query_timeout: SILENCE_MS,
      application_name: 'gantry-owner',
    });
    this.ended = AbortSignal.any([this.lost.signal, unwanted]);
    const end = (): void => this.lost.abort();
    this.client.on('error', end);
    this.client.on('end', end);
  }

  async open(): Promise<void> {
    await this.client.connect();
  }

  async query<Row extends object = object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(sql, values)).rows;
  }

  pause(ms: number): Promise<void> {
    return pause(ms, this.ended);
  }

  /** Keeps the session from being silent while `work` continues. */
  async during(work: Promise<void>): Promise<void> {
    // A session that breaks aborts `ended`, and the next query reports why.
    const beats = setInterval(() => void this.query('SELECT').catch(() => undefined), LOOK_MS);
    try {
      await work;
    } finally {
      clearInterval(beats);
    }
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}

/** Resolves after `ms`, or at once when `signal` is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
