import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { AppConfig } from '../../config/config';
import { isConflict, isMissingPartition } from '../../database/sql-errors';
import { dottedOrderSegment } from '../dotted-order';
import { Instant, instantOf, utcDay } from '../instant';
import { ProjectsService } from '../projects/projects.service';
import { storing } from '../storing';
import { traceErrors } from '../trace.errors';
import { TracePartitions } from '../trace-partitions';
import { DERIVED_RANK, encodeRanks, mergeChange, Ranks, RUN_FIELDS, RunChange, RunField, winner } from './run-merge';
import { ProjectReference, RunOperation } from './run-operation';
import { type ChangedRun, type NewRun, placeOf, type RunPlace } from './run-statements';
import { ProjectsGone, RunKey, TraceIngestRepository, unknownRun } from './trace-ingest.repository';
import { TracePositions } from './trace-positions.service';
import { UploadGate } from './upload-gate';

/** Limit of days in one request: a partition for each day of a broken clock would be expensive. */
const EARLIEST: Instant = '2000-01-01T00:00:00.000000Z' as Instant;
const MAX_AHEAD_MS = 366 * 86_400_000;

/** Attempts to commit an upload. Locks are taken in one order, so that conflicts are rare, and two in a row more so. */
const MAX_ATTEMPTS = 3;

/** The other parts of an upload, which are stored in the transaction of its runs. */
export interface Accompaniment {
  /** Runs to which `store` adds something. They are locked together with those of the operations. */
  lockedRuns: (manager: EntityManager) => Promise<string[]>;
  /** @param placedRunIds runs that are new, or that have moved to another project or start */
  store: (manager: EntityManager, placedRunIds: string[]) => Promise<void>;
}

/** Merges operations on runs, in any order and any number of times, into rows. */
@Injectable()
export class TraceIngestService {
  /**
   * Uploads use at most half of the database's connections, so that everything else continues while their tables are slow or
   * locked.
   */
  private readonly gate: UploadGate;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly runs: TraceIngestRepository,
    private readonly positions: TracePositions,
    private readonly projects: ProjectsService,
    private readonly partitions: TracePartitions,
    config: AppConfig,
  ) {
    this.gate = new UploadGate(Math.ceil(config.database.poolSize / 2));
  }

  /**
   * Stores the operations of a request and what accompanies them; when it returns they are committed.
   * @throws {ApiError} 503 when the database is overloaded, 422 when it can't hold the content; nothing is stored then
   */
  async ingest(tenantId: TenantId, operations: RunOperation[], also: Accompaniment): Promise<void> {
    const changes = new Map<string, RunChange>();
    for (const { runId, change } of operations) {
      const known = changes.get(runId);
      if (known) mergeChange(known, change);
      else changes.set(runId, change);
    }
    this.checkTimes(changes);
    await storing(() => this.gate.run(() => this.write(tenantId, changes, also)));
  }

  private async write(tenantId: TenantId, changes: Map<string, RunChange>, also: Accompaniment): Promise<void> {
    const days = daysOf(changes);
    const goneProjects = new Set<string>();
    await this.partitions.ensure(days);
    for (let attempt = 1; ; attempt += 1) {
      try {
        // Copies, since each attempt looks up projects and computes positions from what is stored then.
        const copies = await this.withProjects(tenantId, changes);
        return await this.commit(tenantId, copies, goneProjects, also);
      } catch (error) {
        if (isMissingPartition(error) && attempt < MAX_ATTEMPTS) {
          // Another process has dropped the partition of the day since.
          this.partitions.forget();
          await this.partitions.ensure(days);
        } else if (error instanceof ProjectsGone && attempt < MAX_ATTEMPTS) {
          // Deleted since: a name stands for a new project now.
          for (const projectId of error.projectIds) goneProjects.add(projectId);
          this.projects.forget();
        } else if (!isConflict(error) && !(error instanceof ProjectsGone)) {
          throw error;
        } else if (attempt === MAX_ATTEMPTS) {
          throw traceErrors.storeBusy();
        }
      }
    }
  }

  private async commit(
    tenantId: TenantId,
    changes: Map<string, RunChange>,
    goneProjects: ReadonlySet<string>,
    also: Accompaniment,
  ): Promise<void> {
    await this.database.transaction(async (manager) => {
      const lockedRunIds = await also.lockedRuns(manager);
      const placedRunIds = await this.store(manager, tenantId, changes, lockedRunIds, goneProjects);
      await also.store(manager, placedRunIds);
    });
  }

  /**
   * @param goneProjects projects that were deleted after parts of runs had been held for them
   * @returns the ids of the runs that are new or have moved
   */
  private async store(
    manager: EntityManager,
    tenantId: TenantId,
    changes: Map<string, RunChange>,
    alsoLocked: string[],
    goneProjects: ReadonlySet<string>,
  ): Promise<string[]> {
    const unsettled = await this.positions.complete(manager, tenantId, changes);
    const runs = [...changes].map(([runId, change]) => {
      const place = placeOf(change);
      return { runId, change, place, held: place ? null : change };
    });
    const others = [...new Set(alsoLocked)].filter((runId) => !changes.has(runId)).map(unknownRun);
    const claimed = await this.runs.claimKeys(manager, tenantId, [...runs, ...others]);
    const keys = new Map(claimed.filter(({ runId }) => changes.has(runId)).map((key) => [key.runId, key]));
    const stored = [...keys.values()].filter((key): key is RunKey & { place: RunPlace } => key.place !== null);
    const ranks = stored.length > 0 ? await this.runs.ranks(manager, tenantId, stored) : new Map<string, Ranks>();

    const inserted: NewRun[] = [];
    const changed: ChangedRun[] = [];
    const moved: { runId: string; place: RunPlace }[] = [];
    const held: { runId: string; held: RunChange }[] = [];
    for (const run of runs) {
      const key = keys.get(run.runId);
      const known = ranks.get(run.runId);
      if (key?.place && known) {
        const update = winning(run.runId, run.change, key.place, known);
        if (!update) continue;
        changed.push(update);
        if (!samePlace(update.place, key.place)) moved.push(update);
        continue;
      }
      const change = key?.held ? withoutProjects(key.held, goneProjects) : { ...run.change };
      if (key?.held) mergeChange(change, run.change);
      const place = placeOf(change);
      if (place) {
        inserted.push(newRun(run.runId, place, change));
        if (key) moved.push({ runId: run.runId, place });
      } else if (key) {
        held.push({ runId: run.runId, held: change });
      }
    }
    if (inserted.length > 0) await this.runs.insert(manager, tenantId, inserted);
    if (changed.length > 0) await this.runs.update(manager, tenantId, changed);
    if (moved.length > 0) await this.runs.moveKeys(manager, tenantId, moved);
    if (held.length > 0) await this.runs.hold(manager, tenantId, held);
    await this.positions.settle(manager, tenantId, unsettled);
    return [...new Set([...inserted, ...moved].map(({ runId }) => runId))];
  }

  private checkTimes(changes: Map<string, RunChange>): void {
    const latest = instantOf(new Date(Date.now() + MAX_AHEAD_MS));
    for (const { start_time: start } of changes.values()) {
      if (start && (start.value < EARLIEST || start.value > latest)) {
        throw traceErrors.invalid('start_time', `start_time must lie between ${EARLIEST} and ${latest}`);
      }
    }
  }

  /** The same changes, with the ids of the projects that they name. */
  private async withProjects(tenantId: TenantId, changes: Map<string, RunChange>): Promise<Map<string, RunChange>> {
    const resolved = new Map<string, RunChange>();
    for (const [runId, { project, ...change }] of changes) {
      const value = project && (await this.projects.resolve(tenantId, project.value as ProjectReference));
      resolved.set(runId, { ...change, ...(project && value && { project: { ...project, value } }) });
    }
    return resolved;
  }
}

function daysOf(changes: Map<string, RunChange>): Set<string> {
  const days = new Set<string>();
  for (const { start_time: start } of changes.values()) if (start) days.add(utcDay(start.value as Instant));
  return days;
}

/** A copy of what is held of a run; it is put into the project of its post when its own is gone. */
function withoutProjects({ project, ...held }: RunChange, gone: ReadonlySet<string>): RunChange {
  return project && !gone.has(project.value) ? { ...held, project } : held;
}

function samePlace(a: RunPlace, b: RunPlace): boolean {
  return a.projectId === b.projectId && a.startTime === b.startTime;
}

function newRun(runId: string, place: RunPlace, change: RunChange): NewRun {
  const parentId = change.parent_run_id?.value;
  change.trace_id ??= { value: parentId ?? runId, rank: DERIVED_RANK };
  change.dotted_order ??= { value: dottedOrderSegment(place.startTime, runId), rank: DERIVED_RANK };
  change.name ??= { value: '', rank: DERIVED_RANK };
  change.run_type ??= { value: 'chain', rank: DERIVED_RANK };
  return { runId, place, change, ranks: encodeRanks(ranksOf(change)) };
}

/** The part of a change that outranks the stored run; undefined if there is none. */
function winning(runId: string, change: RunChange, storedAt: RunPlace, stored: Ranks): ChangedRun | undefined {
  const wins: RunChange = {};
  for (const field of RUN_FIELDS) {
    const won = winner(change[field], stored[field], stored.end_time);
    if (won) wins[field] = won;
  }
  if (Object.keys(wins).length === 0) return undefined;
  const place: RunPlace = {
    projectId: wins.project?.value ?? storedAt.projectId,
    startTime: (wins.start_time?.value as Instant | undefined) ?? storedAt.startTime,
  };
  return { runId, place, change: wins, ranks: encodeRanks({ ...stored, ...ranksOf(wins) }), storedAt };
}

function ranksOf(change: RunChange): Ranks {
  const ranks: Ranks = {};
  for (const field of Object.keys(change) as RunField[]) {
    const rank = change[field]?.rank;
    if (rank !== undefined) ranks[field] = rank;
  }
  return ranks;
}
