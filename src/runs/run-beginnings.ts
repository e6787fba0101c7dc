import type { DataSource } from 'typeorm';
import { currentCipher } from '../database/at-rest';
import { BatchedCalls } from '../database/batched-calls';
import { columnsOf } from '../database/entity-columns';
import { isUniqueViolation } from '../database/sql-errors';
import { prepared } from '../patches/pg/prepared-statements';
import { RunEntity } from './run.entity';

/** Changes of a run's row when an attempt begins, for a revision ($2) and a task queue ($3). */
const TAKING = `
  UPDATE runs SET status = 'running', attempt = attempt + 1, started_at = coalesce(started_at, clock_timestamp()), updated_at = now(),
    metadata = metadata || jsonb_build_object('revision_id', $2::text), task_queue = $3`;
const ANOTHER_RUNS = `
  SELECT 1 FROM runs o
  WHERE o.tenant_id = runs.tenant_id AND o.thread_id = runs.thread_id AND o.status = 'running' AND o.run_id <> runs.run_id`;
const TAKEN = `attempt AS taken_attempt, started_at AS taken_at,
  (SELECT coalesce(max(seq), -1) + 1 FROM run_events e WHERE e.run_id = runs.run_id) AS next_seq`;

/** Begins an attempt at the run $1, unless another run is on the thread. */
export const TAKE_RUN = prepared(
  'take-run',
  `${TAKING} WHERE run_id = $1 AND NOT EXISTS (${ANOTHER_RUNS}) RETURNING ${TAKEN}`,
);

/**
 * Claims pending runs on idle threads without waiting for the locks of the threads; a concurrent claim fails on the unique index.
 * Returns the rows before the update.
 */
const BEGIN_RUNS = prepared(
  'begin-runs',
  `WITH free AS (
    SELECT r.run_id FROM runs r JOIN threads t USING (tenant_id, thread_id)
    WHERE r.run_id = ANY($1::uuid[]) AND r.status = 'pending' AND r.attempt = 0
    FOR UPDATE SKIP LOCKED
  ), taken AS (
    ${TAKING} WHERE run_id IN (SELECT run_id FROM free) AND NOT EXISTS (${ANOTHER_RUNS})
    RETURNING run_id AS taken_id, ${TAKEN}
  )
  SELECT ${columnsOf(RunEntity, 'r')}, taken.* FROM runs r LEFT JOIN taken ON taken_id = r.run_id
  WHERE r.run_id = ANY($1::uuid[])`,
);

/** Values of a run's row that its attempt begins with. */
export interface TakenRow {
  taken_attempt: number;
  taken_at: Date;
  next_seq: number;
}

interface Claim {
  runId: string;
  revision: string;
  taskQueue: string;
}

interface Claimed {
  /** State before the claim. */
  run: RunEntity;
  /** Null if it couldn't be claimed. */
  taken: TakenRow | null;
}

type ClaimedRow = RunEntity & TakenRow & { taken_id: string | null };

/** Claims runs that begin: in one statement those of which this process is notified together. */
export class RunBeginnings {
  private readonly calls = new BatchedCalls<Claim, Claimed | undefined>((claims) => this.beginMany(claims));

  constructor(private readonly database: DataSource) {}

  /**
   * Claims a run without waiting for the lock of its thread. Resolves to undefined if there is no such run.
   * @throws a unique violation if another run of the thread is being claimed
   */
  begin(claim: Claim): Promise<Claimed | undefined> {
    // The rows of a statement are decrypted together: one that can't be, or takes long, would fail or delay all of them.
    return currentCipher() ? this.beginAlone(claim) : this.calls.call(claim);
  }

  private async beginMany(claims: Claim[]): Promise<Promise<Claimed | undefined>[]> {
    const firsts = [...Map.groupBy(claims, ({ runId }) => runId).values()].map(([first]) => first);
    const begun = new Map<Claim, Promise<Claimed | undefined>>();
    for (const group of Map.groupBy(firsts, ({ revision, taskQueue }) => `${revision} ${taskQueue}`).values()) {
      const byId = this.beginTogether(group);
      for (const claim of group)
        begun.set(
          claim,
          byId.then((found) => found.get(claim.runId)),
        );
    }
    await Promise.allSettled(begun.values());
    // A second claim of the same run finds it as the first one left it.
    return claims.map((claim) => begun.get(claim) ?? this.beginAlone(claim));
  }

  /** Answers by the ids of the runs; where one of them is being claimed elsewhere, each is claimed alone, so that only it fails. */
  private async beginTogether(
    claims: Claim[],
  ): Promise<Map<string, Claimed | undefined | Promise<Claimed | undefined>>> {
    const [{ revision, taskQueue }] = claims;
    const ids = claims.map(({ runId }) => runId);
    try {
      const rows = await this.database.query<ClaimedRow[]>(BEGIN_RUNS, [ids, revision, taskQueue]);
      return new Map(rows.map((row) => [row.runId, toClaimed(row)]));
    } catch (error) {
      if (claims.length === 1 || !isUniqueViolation(error)) throw error;
    }
    const alone = new Map(claims.map((claim) => [claim.runId, this.beginAlone(claim)]));
    await Promise.allSettled(alone.values());
    return alone;
  }

  private async beginAlone(claim: Claim): Promise<Claimed | undefined> {
    return (await this.beginTogether([claim])).get(claim.runId);
  }
}

function toClaimed({ taken_id, taken_attempt, taken_at, next_seq, ...run }: ClaimedRow): Claimed {
  return { run, taken: taken_id === null ? null : { taken_attempt, taken_at, next_seq } };
}
