import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../auth/tenant';
import { isConflict } from '../database/sql-errors';
import { unrecorded } from '../database/unrecorded';
import { Instant } from './instant';
import { rangeOf } from './run-starts';
import { traceErrors } from './trace.errors';
import { selectInstant } from './trace-wire';

/** Runs that are deleted in one transaction: uploads of the same runs wait for it. */
const BATCH = 1_000;
/**
 * Passes over the runs of a project before its last transaction, for which uploads to the project wait. The second pass
 * deletes what they have added during the first, and reads what the first one has left in the index, so that the last
 * transaction need not.
 */
const PASSES = 2;
/** Attempts of a transaction. Locks are taken in the order of uploads, so that conflicts are rare. */
const MAX_ATTEMPTS = 5;

/** Tables whose rows go with their run, the key last. Links to traces are not among them: the audit log records each of them. */
const OF_RUNS = ['trace_attachments', 'trace_feedback', 'trace_feedback_links', 'trace_run_keys'];

interface LockedKey {
  run_id: string;
  start_time: Instant | null;
}

/** A run's place in its project, whose runs are in this order in the primary key. */
interface RunPosition {
  start_time: string;
  run_id: string;
}

const BEFORE_ALL: RunPosition = { start_time: '-infinity', run_id: '00000000-0000-0000-0000-000000000000' };

type InTransaction = <T>(work: (manager: EntityManager) => Promise<T>) => Promise<T>;

/** Deletes traces and projects with everything that belongs to them. Locks the keys of runs first, in order, as uploads do. */
@Injectable()
export class TraceDeletionRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** @returns how many runs the traces had */
  async deleteTraces(tenantId: TenantId, projectId: string, traceIds: string[]): Promise<number> {
    return this.transaction(async (manager) => {
      const keys = await manager.query<LockedKey[]>(
        `SELECT run_id, ${selectInstant('start_time')} AS start_time FROM trace_run_keys
         WHERE tenant_id = $1 AND run_id IN (
           SELECT run_id FROM trace_runs WHERE tenant_id = $1 AND project_id = $2 AND trace_id = ANY ($3::uuid[]))
         ORDER BY run_id FOR UPDATE`,
        [tenantId, projectId, traceIds],
      );
      const runIds = keys.map(({ run_id: runId }) => runId);
      await manager.query('DELETE FROM trace_shares WHERE tenant_id = $1 AND run_id = ANY ($2::uuid[])', [
        tenantId,
        runIds,
      ]);
      const deleted = await this.deleteRuns(manager, tenantId, keys);
      await this.deleteRest(manager, tenantId, keys);
      return deleted;
    });
  }

  /**
   * Most runs go first, in many short transactions: an upload that waits for one of them occupies a connection. The last
   * transaction deletes the project and what uploads have added meanwhile; none can add to it afterwards. If the process ends in
   * between, the project is still there.
   * @returns how many of the projects there were
   */
  async deleteProjects(tenantId: TenantId, projectIds: string[]): Promise<number> {
    const parameters = [tenantId, projectIds];
    // The audit log records the deletion now: if it ends halfway, most of the runs are gone.
    await this.transaction((manager) =>
      manager.query<unknown>(
        `UPDATE trace_projects SET deletion_began_at = clock_timestamp()
         WHERE tenant_id = $1 AND project_id = ANY ($2::uuid[])`,
        parameters,
      ),
    );
    for (let pass = 1; pass <= PASSES; pass += 1) {
      await this.deleteRunsOf(tenantId, projectIds, (work) => this.transaction(work));
    }
    return this.transaction(async (manager) => {
      // First, so that no upload holds or adds a run of the project.
      const [projects] = await unrecorded(manager, () =>
        manager.query<[unknown[], number]>(
          'DELETE FROM trace_projects WHERE tenant_id = $1 AND project_id = ANY ($2::uuid[]) RETURNING project_id',
          parameters,
        ),
      );
      await this.deleteRunsOf(tenantId, projectIds, (work) => work(manager));
      for (const table of ['trace_shares', 'trace_feedback']) {
        await manager.query(`DELETE FROM ${table} WHERE tenant_id = $1 AND project_id = ANY ($2::uuid[])`, parameters);
      }
      return projects.length;
    });
  }

  /** Deletes the runs of projects in batches, each by `inTransaction`. */
  private async deleteRunsOf(tenantId: TenantId, projectIds: string[], inTransaction: InTransaction): Promise<void> {
    for (const projectId of projectIds) {
      let after: RunPosition | undefined = BEFORE_ALL;
      while (after !== undefined) {
        const from: RunPosition = after;
        after = await inTransaction((manager) => this.deleteBatch(manager, tenantId, projectId, from));
      }
    }
  }

  /**
   * Deletes the next runs of a project. They are found by the primary key of runs, which begins with the project: that
   * of keys has the runs of all projects.
   * @returns the place of the last one; undefined when there was none
   */
  private async deleteBatch(
    manager: EntityManager,
    tenantId: TenantId,
    projectId: string,
    after: RunPosition,
  ): Promise<RunPosition | undefined> {
    const runs = await manager.query<RunPosition[]>(
      `SELECT r.run_id, ${selectInstant('r.start_time')} AS start_time FROM trace_runs r
       WHERE r.tenant_id = $1 AND r.project_id = $2 AND r.start_time >= $3::timestamptz
         AND (r.start_time, r.run_id) > ($3::timestamptz, $4::uuid)
       ORDER BY r.start_time, r.run_id LIMIT ${BATCH}`,
      [tenantId, projectId, after.start_time, after.run_id],
    );
    if (runs.length === 0) return undefined;
    // Those that another transaction has moved to another project meanwhile stay.
    const keys = await manager.query<LockedKey[]>(
      `SELECT run_id, ${selectInstant('start_time')} AS start_time FROM trace_run_keys
       WHERE tenant_id = $1 AND project_id = $2 AND run_id = ANY ($3::uuid[]) ORDER BY run_id FOR UPDATE`,
      [tenantId, projectId, runs.map(({ run_id: runId }) => runId)],
    );
    // The audit log records traces that are deleted individually, not those that go with their project.
    await unrecorded(manager, () => this.deleteRuns(manager, tenantId, keys));
    await this.deleteRest(manager, tenantId, keys);
    return runs.at(-1);
  }

  /** Deletes the runs whose keys the transaction has locked. */
  private async deleteRuns(manager: EntityManager, tenantId: TenantId, keys: LockedKey[]): Promise<number> {
    if (keys.length === 0) return 0;
    const runIds = keys.map(({ run_id: runId }) => runId);
    const starts = keys.flatMap(({ start_time: start }) => start ?? []);
    const [first, last] = starts.length > 0 ? rangeOf(starts) : [null, null];
    const [, deleted] = await manager.query<[unknown[], number]>(
      `DELETE FROM trace_runs r USING trace_run_keys k
       WHERE k.tenant_id = $1 AND k.run_id = ANY ($2::uuid[]) AND r.tenant_id = $1 AND r.project_id = k.project_id
         AND r.start_time = k.start_time AND r.run_id = k.run_id
         AND r.start_time BETWEEN $3::timestamptz AND $4::timestamptz`,
      [tenantId, runIds, first, last],
    );
    return deleted;
  }

  /** Deletes what belongs to deleted runs, and their keys. The audit log records the feedback. */
  private async deleteRest(manager: EntityManager, tenantId: TenantId, keys: LockedKey[]): Promise<void> {
    if (keys.length === 0) return;
    const runIds = keys.map(({ run_id: runId }) => runId);
    for (const table of OF_RUNS) {
      await manager.query(`DELETE FROM ${table} WHERE tenant_id = $1 AND run_id = ANY ($2::uuid[])`, [
        tenantId,
        runIds,
      ]);
    }
  }

  /**
   * Repeats a transaction that Postgres has rolled back because of a concurrent one.
   * @throws {ApiError} 503 when that happens again and again
   */
  private async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.database.transaction(work);
      } catch (error) {
        if (!isConflict(error)) throw error;
        if (attempt === MAX_ATTEMPTS) throw traceErrors.storeBusy();
      }
    }
  }
}
