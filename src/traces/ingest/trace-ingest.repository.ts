import { Injectable } from '@nestjs/common';
import { EntityManager } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { Instant } from '../instant';
import { SEGMENT_LENGTH } from '../dotted-order';
import { SPAN_ID_KEY } from '../otel/span-mapper';
import { rangeOf, StartRange, startsOf } from '../run-starts';
import { selectInstant } from '../trace-wire';
import { COMPUTED_RANK, decodeRanks, DERIVED_RANK, Ranks, RunChange, RunField, weightOf } from './run-merge';
import type { TracePosition } from './run-positions';
import { slices } from './slices';
import {
  type ChangedRun,
  FIELD_PRESENCE,
  INSERT_RUNS,
  type NewRun,
  type RunPlace,
  runParameters,
  UPDATE_RUNS,
  WRITTEN_AT,
} from './run-statements';

/** Arbitrary number, the same in every process, of the locks on traces. */
const TRACE_LOCKS = 4_201_979;
/** A power of two. */
const TRACE_LOCK_COUNT = 1024;

export interface RunKey {
  runId: string;
  /** Null while the run is not stored. */
  place: RunPlace | null;
  /** Fields that came before anything said when and where the run began. */
  held: RunChange | null;
}

/** Projects that were deleted after an upload had looked them up. */
export class ProjectsGone extends Error {
  constructor(readonly projectIds: string[]) {
    super('A project was deleted while runs were being stored in it');
    this.name = 'ProjectsGone';
  }
}

/** The key of a run of which nothing is known but its id. */
export const unknownRun = (runId: string): RunKey => ({ runId, place: null, held: null });

/** The writes of ingestion. All run inside the caller's transaction, and each is one statement for a whole request, or for each slice of a large one. */
@Injectable()
export class TraceIngestRepository {
  /**
   * Claims the keys of these runs: inserts new ones, locks existing ones, and returns the latter. Both phases use the same
   * order of ids, so that requests with common runs wait and never deadlock. The projects of the runs can't be deleted until the
   * transaction ends.
   * @throws {ProjectsGone}
   */
  async claimKeys(manager: EntityManager, tenantId: TenantId, runs: RunKey[]): Promise<RunKey[]> {
    const claimed: RunKey[] = [];
    let open = [...runs].sort((a, b) => (a.runId < b.runId ? -1 : 1));
    for (;;) {
      const isNew = await this.insertKeys(manager, tenantId, open);
      const present = open.filter(({ runId }) => !isNew.has(runId));
      if (present.length === 0) return claimed;
      const locked = await this.lockKeys(
        manager,
        tenantId,
        present.map(({ runId }) => runId),
      );
      claimed.push(...locked);
      const isLocked = new Set(locked.map(({ runId }) => runId));
      open = present.filter(({ runId }) => !isLocked.has(runId));
      if (open.length === 0) return claimed;
      // These were deleted between the two statements, or their project was.
      await this.checkProjects(manager, tenantId, open);
    }
  }

  /** @returns the ids of the runs that had no key; those of deleted projects get none */
  private async insertKeys(manager: EntityManager, tenantId: TenantId, sorted: RunKey[]): Promise<Set<string>> {
    const isNew = new Set<string>();
    const projectIds = projectsOf(sorted);
    for (const slice of slices(sorted, ({ held }) => (held ? weightOf(held) : 0))) {
      // The projects are locked before any key, since their deletion locks them in this order.
      const created = await manager.query<{ run_id: string }[]>(
        `WITH projects AS (
           SELECT project_id FROM trace_projects
           WHERE tenant_id = $1 AND project_id = ANY ($6::uuid[]) ORDER BY project_id FOR KEY SHARE)
         INSERT INTO trace_run_keys (tenant_id, run_id, project_id, start_time, held)
         SELECT $1, v.run_id, v.project_id, v.start_time, v.held
         FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[]) AS v (run_id, project_id, start_time, held)
         WHERE v.project_id IS NULL OR v.project_id IN (SELECT project_id FROM projects)
         ON CONFLICT (tenant_id, run_id) DO NOTHING
         RETURNING run_id`,
        [
          tenantId,
          slice.map(({ runId }) => runId),
          slice.map(({ place }) => place?.projectId ?? null),
          slice.map(({ place }) => place?.startTime ?? null),
          slice.map(({ held }) => held && JSON.stringify(held)),
          projectIds,
        ],
      );
      for (const row of created) isNew.add(row.run_id);
    }
    return isNew;
  }

  private async lockKeys(manager: EntityManager, tenantId: TenantId, present: string[]): Promise<RunKey[]> {
    const rows = await manager.query<
      { run_id: string; project_id: string | null; start_time: Instant | null; held: string | null }[]
    >(
      `SELECT run_id, project_id, ${selectInstant('start_time')} AS start_time, held
       FROM trace_run_keys WHERE tenant_id = $1 AND run_id = ANY ($2::uuid[]) ORDER BY run_id FOR UPDATE`,
      [tenantId, present],
    );
    return rows.map((row) => ({
      runId: row.run_id,
      place: row.project_id && row.start_time ? { projectId: row.project_id, startTime: row.start_time } : null,
      held: row.held === null ? null : (JSON.parse(row.held) as RunChange),
    }));
  }

  /**
   * Locks runs that the transaction changes without operations on them. A run that is not stored gets a key as well: the upload
   * that stores it waits for that key, and then sees what this transaction has written about it.
   */
  async lockRuns(manager: EntityManager, tenantId: TenantId, runIds: string[]): Promise<void> {
    if (runIds.length > 0) await this.claimKeys(manager, tenantId, runIds.map(unknownRun));
  }

  /** @throws {ProjectsGone} */
  async moveKeys(
    manager: EntityManager,
    tenantId: TenantId,
    runs: { runId: string; place: RunPlace }[],
  ): Promise<void> {
    const [, moved] = await manager.query<[unknown[], number]>(
      `UPDATE trace_run_keys k SET project_id = v.project_id, start_time = v.start_time, held = NULL
       FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[]) AS v (run_id, project_id, start_time)
       WHERE k.tenant_id = $1 AND k.run_id = v.run_id
         AND EXISTS (SELECT FROM trace_projects p WHERE p.tenant_id = $1 AND p.project_id = v.project_id)`,
      [
        tenantId,
        runs.map(({ runId }) => runId),
        runs.map(({ place }) => place.projectId),
        runs.map(({ place }) => place.startTime),
      ],
    );
    if (moved < runs.length) await this.checkProjects(manager, tenantId, runs);
  }

  /** @throws {ProjectsGone} */
  private async checkProjects(
    manager: EntityManager,
    tenantId: TenantId,
    runs: { place: RunPlace | null }[],
  ): Promise<void> {
    const projectIds = projectsOf(runs);
    const rows = await manager.query<{ project_id: string }[]>(
      'SELECT project_id FROM trace_projects WHERE tenant_id = $1 AND project_id = ANY ($2::uuid[])',
      [tenantId, projectIds],
    );
    const isThere = new Set(rows.map((row) => row.project_id));
    const gone = projectIds.filter((projectId) => !isThere.has(projectId));
    if (gone.length > 0) throw new ProjectsGone(gone);
  }

  async hold(manager: EntityManager, tenantId: TenantId, runs: { runId: string; held: RunChange }[]): Promise<void> {
    for (const slice of slices(runs, ({ held }) => weightOf(held))) {
      await manager.query(
        `UPDATE trace_run_keys k SET held = v.held FROM unnest($2::uuid[], $3::text[]) AS v (run_id, held)
         WHERE k.tenant_id = $1 AND k.run_id = v.run_id`,
        [tenantId, slice.map(({ runId }) => runId), slice.map(({ held }) => JSON.stringify(held))],
      );
    }
  }

  /** The ranks of stored runs' fields, by run id. */
  async ranks(
    manager: EntityManager,
    tenantId: TenantId,
    runs: { runId: string; place: RunPlace }[],
  ): Promise<Map<string, Ranks>> {
    const present = Object.entries(FIELD_PRESENCE).map(([field, sql]) => `CASE WHEN ${sql} THEN '${field}' END`);
    const rows = await manager.query<
      { run_id: string; merge_ranks: string | null; end_time: Instant | null; present: RunField[] }[]
    >(
      `SELECT r.run_id, r.merge_ranks, ${selectInstant('r.end_time')} AS end_time,
              array_remove(ARRAY[${present.join(', ')}], NULL) AS present
       FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[]) AS v (run_id, project_id, start_time)
       JOIN trace_runs r ON r.tenant_id = $1 AND r.project_id = v.project_id
         AND r.start_time = v.start_time AND r.run_id = v.run_id
         -- So that only the partitions of these days are planned and locked.
         AND r.start_time BETWEEN $5::timestamptz AND $6::timestamptz`,
      [
        tenantId,
        runs.map(({ runId }) => runId),
        runs.map(({ place }) => place.projectId),
        runs.map(({ place }) => place.startTime),
        ...rangeOf(runs.map(({ place }) => place.startTime)),
      ],
    );
    return new Map(
      rows.map((row) => [row.run_id, decodeRanks(row.merge_ranks, [...row.present, 'project'], row.end_time)]),
    );
  }

  async insert(manager: EntityManager, tenantId: TenantId, runs: NewRun[]): Promise<void> {
    for (const slice of slices(runs, weigh)) await manager.query(INSERT_RUNS, runParameters(tenantId, slice));
  }

  async update(manager: EntityManager, tenantId: TenantId, runs: ChangedRun[]): Promise<void> {
    for (const slice of slices(runs, weigh)) {
      await manager.query(UPDATE_RUNS, [
        ...runParameters(tenantId, slice),
        slice.map(({ change }) => `,${Object.keys(change).join(',')},`),
        slice.map(({ storedAt }) => storedAt.projectId),
        slice.map(({ storedAt }) => storedAt.startTime),
        ...rangeOf(slice.map(({ storedAt }) => storedAt.startTime)),
      ]);
    }
  }

  /**
   * Serializes the computation of positions in a trace, since each request must see the runs of the others. Traces share a limited
   * number of locks: Postgres has room for some thousand, and an upload may have more traces. They are taken in one order, so that
   * requests with common traces wait and never deadlock.
   */
  async lockTraces(manager: EntityManager, tenantId: TenantId, traceIds: string[]): Promise<void> {
    await manager.query(
      `SELECT pg_advisory_xact_lock(${TRACE_LOCKS}, number)
       FROM (SELECT DISTINCT hashtext($1::text || id) & ${TRACE_LOCK_COUNT - 1} AS number
             FROM unnest($2::text[]) AS id ORDER BY number) AS numbers`,
      [tenantId, traceIds],
    );
  }

  /**
   * Moves the runs that took one of these runs for their root into the trace that it is in. Only runs whose trace was computed
   * here, since others name theirs.
   * @param around the starts of all runs concerned
   */
  async joinTraces(manager: EntityManager, tenantId: TenantId, runIds: string[], around: StartRange): Promise<void> {
    await manager.query(
      `UPDATE trace_runs r SET trace_id = parent.trace_id, updated_at = ${WRITTEN_AT}
       FROM trace_run_keys k JOIN trace_runs parent ON parent.tenant_id = k.tenant_id
         AND parent.project_id = k.project_id AND parent.start_time = k.start_time AND parent.run_id = k.run_id
       WHERE k.tenant_id = $1 AND k.run_id = ANY ($2::uuid[]) AND parent.trace_id <> parent.run_id
         AND r.tenant_id = $1 AND r.trace_id = k.run_id
         AND parent.start_time BETWEEN $3::timestamptz AND $4::timestamptz
         AND r.start_time BETWEEN $3::timestamptz AND $4::timestamptz
         AND (r.merge_ranks::json ->> 'trace_id') IN ('${DERIVED_RANK}', '${COMPUTED_RANK}')`,
      [tenantId, runIds, ...around],
    );
  }

  /**
   * Computes the place in the tree for runs of clients that only know the parent's id, with children that arrived before their
   * parents. OpenTelemetry's children refer to the root by its span, which is not the id of the root here.
   * @param around the starts of all runs concerned
   */
  async settleTraces(
    manager: EntityManager,
    tenantId: TenantId,
    traceIds: string[],
    around: StartRange,
  ): Promise<void> {
    const isAround = (alias: string): string => `${alias}.start_time BETWEEN $3::timestamptz AND $4::timestamptz`;
    await manager.query(
      `UPDATE trace_runs c SET parent_run_id = root.run_id, updated_at = ${WRITTEN_AT}
       FROM trace_runs root
       WHERE root.tenant_id = $1 AND root.trace_id = ANY ($2::uuid[]) AND root.parent_run_id IS NULL
         AND root.metadata ->> '${SPAN_ID_KEY}' ~ '^[0-9a-f]{16}$'
         AND c.tenant_id = $1 AND c.trace_id = root.trace_id AND ${isAround('root')} AND ${isAround('c')}
         AND c.parent_run_id = lpad(root.metadata ->> '${SPAN_ID_KEY}', 32, '0')::uuid`,
      [tenantId, traceIds, ...around],
    );
    await manager.query(
      `WITH RECURSIVE tree AS (
         SELECT r.run_id, r.trace_id, r.dotted_order AS path, '{}'::uuid[] AS ancestors
         FROM trace_runs r
         WHERE r.tenant_id = $1 AND r.trace_id = ANY ($2::uuid[]) AND r.parent_run_id IS NULL
           AND ${isAround('r')}
         UNION ALL
         SELECT c.run_id, c.trace_id,
                CASE WHEN COALESCE((c.merge_ranks::json ->> 'dotted_order') IN ('${DERIVED_RANK}', '${COMPUTED_RANK}'), false)
                     THEN (tree.path || '.' || right(c.dotted_order, ${SEGMENT_LENGTH})) COLLATE "C" ELSE c.dotted_order END,
                tree.ancestors || tree.run_id
         FROM tree JOIN trace_runs c
           ON c.tenant_id = $1 AND c.trace_id = tree.trace_id AND c.parent_run_id = tree.run_id AND ${isAround('c')}
       )
       UPDATE trace_runs r SET dotted_order = tree.path, parent_run_ids = tree.ancestors, updated_at = ${WRITTEN_AT}
       FROM tree
       WHERE r.tenant_id = $1 AND r.trace_id = tree.trace_id AND r.run_id = tree.run_id
         AND r.dotted_order <> tree.path AND ${isAround('r')}`,
      [tenantId, traceIds, ...around],
    );
  }

  /** Trace and position of runs that are stored, for children that name only their parent. */
  async positions(manager: EntityManager, tenantId: TenantId, runIds: string[]): Promise<Map<string, TracePosition>> {
    const starts = await startsOf(manager, tenantId, runIds);
    if (!starts) return new Map();
    const rows = await manager.query<{ run_id: string; trace_id: string; dotted_order: string }[]>(
      `SELECT r.run_id, r.trace_id, r.dotted_order FROM trace_run_keys k
       JOIN trace_runs r ON r.tenant_id = k.tenant_id AND r.project_id = k.project_id
         AND r.start_time = k.start_time AND r.run_id = k.run_id
       WHERE k.tenant_id = $1 AND k.run_id = ANY ($2::uuid[])
         AND r.start_time BETWEEN $3::timestamptz AND $4::timestamptz`,
      [tenantId, runIds, ...starts],
    );
    return new Map(rows.map((row) => [row.run_id, { traceId: row.trace_id, dottedOrder: row.dotted_order }]));
  }
}

/** The projects that runs name. */
function projectsOf(runs: { place: RunPlace | null }[]): string[] {
  return [...new Set(runs.flatMap(({ place }) => place?.projectId ?? []))];
}

const weigh = ({ change }: NewRun): number => weightOf(change);
