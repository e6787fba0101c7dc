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
/** Attempts of a transaction. Locks are taken in the order of uploads, so that conflicts are rare. */
const MAX_ATTEMPTS = 5;
/** Id before every other. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Tables whose rows go with their run, the key last. Links to traces are not among them: the audit log records each of them. */
const OF_RUNS = ['trace_attachments', 'trace_feedback', 'trace_feedback_links', 'trace_run_keys'];

interface LockedKey {
  run_id: string;
  start_time: Instant | null;
}

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
    let after: string | undefined = FIRST_ID;
    while (after !== undefined) {
      const from: string = after;
      after = await this.transaction((manager) => this.deleteBatch(manager, tenantId, projectIds, from));
    }
    return this.transaction(async (manager) => {
      // First, so that no upload holds or adds a run of the project.
      const [projects] = await unrecorded(manager, () =>
        manager.query<[unknown[], number]>(
          'DELETE FROM trace_projects WHERE tenant_id = $1 AND project_id = ANY ($2::uuid[]) RETURNING project_id',
          parameters,
        ),
      );
      let after: string | undefined = FIRST_ID;
      while (after !== undefined) after = await this.deleteBatch(manager, tenantId, projectIds, after);
      for (const table of ['trace_shares', 'trace_feedback']) {
        await manager.query(`DELETE FROM ${table} WHERE tenant_id = $1 AND project_id = ANY ($2::uuid[])`, parameters);
      }
      return projects.length;
    });
  }

  /** @returns the id after which the next batch begins; undefined after the last one */
  private async deleteBatch(
    manager: EntityManager,
    tenantId: TenantId,
    projectIds: string[],
    after: string,
  ): Promise<string | undefined> {
    const keys = await manager.query<LockedKey[]>(
      `SELECT run_id, ${selectInstant('start_time')} AS start_time FROM trace_run_keys
       WHERE tenant_id = $1 AND project_id = ANY ($2::uuid[]) AND run_id > $3
       ORDER BY run_id LIMIT ${BATCH} FOR UPDATE`,
      [tenantId, projectIds, after],
    );
    // The audit log records traces that are deleted individually, not those that go with their project.
    await unrecorded(manager, () => this.deleteRuns(manager, tenantId, keys));
    await this.deleteRest(manager, tenantId, keys);
    return keys.at(-1)?.run_id;
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
