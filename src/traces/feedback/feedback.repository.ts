import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { TenantId } from '../../auth/tenant';
import { unrecorded } from '../../database/unrecorded';
import { Instant } from '../instant';
import { WRITTEN_AT } from '../ingest/run-statements';
import { startsOf } from '../run-starts';
import { selectInstant } from '../trace-wire';
import type { ListFeedback } from './feedback.schemas';

export interface FeedbackRow {
  feedback_id: string;
  run_id: string | null;
  trace_id: string | null;
  project_id: string | null;
  key: string;
  score: number | null;
  value: unknown;
  comment: string | null;
  correction: unknown;
  feedback_source: unknown;
  feedback_config: unknown;
  feedback_group_id: string | null;
  comparative_experiment_id: string | null;
  extra: unknown;
  error: boolean;
  created_at: Instant;
  modified_at: Instant;
}

/** JSON values as text, ids and moments as text, ready for the statement. */
export type FeedbackValues = { [Column in keyof FeedbackRow]: string | null } & { feedback_id: string; key: string };

/** Columns that an update replaces. */
export type FeedbackChanges = Partial<
  Pick<FeedbackValues, 'score' | 'value' | 'comment' | 'correction' | 'feedback_config'>
>;

const TYPES: Record<keyof FeedbackRow, string> = {
  feedback_id: 'uuid',
  run_id: 'uuid',
  trace_id: 'uuid',
  project_id: 'uuid',
  key: 'text',
  score: 'float8',
  value: 'json',
  comment: 'text',
  correction: 'json',
  feedback_source: 'json',
  feedback_config: 'json',
  feedback_group_id: 'uuid',
  comparative_experiment_id: 'uuid',
  extra: 'json',
  error: 'boolean',
  created_at: 'timestamptz',
  modified_at: 'timestamptz',
};
const COLUMNS = Object.keys(TYPES) as (keyof FeedbackRow)[];

const DEFAULTS: Partial<Record<keyof FeedbackRow, string>> = {
  error: 'false',
  created_at: 'now()',
  modified_at: 'now()',
};
const value = (column: keyof FeedbackRow): string => {
  const given = `v.${column}::${TYPES[column]}`;
  return DEFAULTS[column] ? `COALESCE(${given}, ${DEFAULTS[column]})` : given;
};

/**
 * A replay changes nothing; the same id with other content is the newer version of that feedback. Ordered by id, so that requests
 * with the same feedback wait for each other and never deadlock. Its first parameters are the tenant and the range of the starts
 * of the runs.
 */
const UPSERT = `
  INSERT INTO trace_feedback (tenant_id, ${COLUMNS.join(', ')})
  SELECT $1::uuid, ${COLUMNS.map((column) =>
    // A client names the run, which determines project and trace.
    column === 'project_id'
      ? 'COALESCE(v.project_id::uuid, k.project_id)'
      : column === 'trace_id'
        ? 'COALESCE(v.trace_id::uuid, r.trace_id)'
        : value(column),
  ).join(', ')}
  FROM unnest(${COLUMNS.map((_, index) => `$${index + 4}::text[]`).join(', ')}) AS v (${COLUMNS.join(', ')})
  LEFT JOIN trace_run_keys k ON k.tenant_id = $1 AND k.run_id = v.run_id::uuid
  LEFT JOIN trace_runs r ON r.tenant_id = $1 AND r.project_id = k.project_id
    AND r.start_time = k.start_time AND r.run_id = k.run_id
    AND r.start_time BETWEEN $2::timestamptz AND $3::timestamptz
  ORDER BY v.feedback_id::uuid
  ON CONFLICT (tenant_id, feedback_id) DO UPDATE SET
    ${COLUMNS.filter((column) => column !== 'feedback_id' && column !== 'created_at')
      .map((column) => `${column} = EXCLUDED.${column}`)
      .join(', ')}`;

const SELECTED = COLUMNS.map((column) =>
  TYPES[column] === 'timestamptz' ? `${selectInstant(`f.${column}`)} AS ${column}` : `f.${column}`,
).join(', ');

/** Columns of feedback that its summary is made of. */
const SUMMARISED = ['key', 'score', 'value', 'comment', 'feedback_source', 'error', 'created_at'];
/** Columns of which a summary lists the oldest values. */
const LISTED = ['comment', 'feedback_source'];
/** Maximum of values in such a list. */
const LIST_LENGTH = 5;

/**
 * Columns of `trace_feedback f` for the rows that `feedbackStat` summarises. The values that a summary may list are
 * numbered: an array of all of them could need more memory than Postgres gives to one.
 * @param group expressions by which the rows are grouped
 */
export const summarised = (group: string): string =>
  [
    ...SUMMARISED.map((column) => `f.${column}`),
    ...LISTED.map(
      (column) =>
        `row_number() OVER (PARTITION BY ${group}, f.${column} IS NULL ORDER BY f.created_at) AS ${column}_number`,
    ),
  ].join(', ');

/** The oldest values of a column of `summarised`, as JSON. */
const oldest = (column: string, value: string): string => `COALESCE(jsonb_agg(${value} ORDER BY f.created_at)
    FILTER (WHERE f.${column} IS NOT NULL AND f.${column}_number <= ${LIST_LENGTH}), '[]')`;

/**
 * The summary of one key's feedback, over rows `f` with the columns of `summarised`: labels are counted, numbers are
 * summed up.
 * @param labelled `trace_feedback g` with the conditions that choose the same rows once more
 */
export const feedbackStat = (labelled: string): string => `jsonb_build_object(
  'n', count(*),
  'avg', avg(f.score), 'min', min(f.score), 'max', max(f.score), 'stdev', stddev_samp(f.score),
  'errors', count(*) FILTER (WHERE f.error),
  'values', COALESCE((
    SELECT jsonb_object_agg(label, times) FROM (
      SELECT g.value #>> '{}' AS label, count(*) AS times FROM ${labelled} AND json_typeof(g.value) = 'string'
      GROUP BY 1) AS labels), '{}'),
  'comments', ${oldest('comment', 'f.comment')},
  'sources', ${oldest('feedback_source', 'f.feedback_source::jsonb')},
  'contains_thread_feedback', false)`;

/** Summary of a run's feedback for clients and exports, by key; null without feedback. */
const REFRESH_STATS = `
  UPDATE trace_runs r SET feedback_stats = s.stats, updated_at = ${WRITTEN_AT}
  FROM trace_run_keys k LEFT JOIN (
    SELECT run_id, jsonb_object_agg(key, stat) AS stats FROM (
      SELECT f.run_id, f.key,
        ${feedbackStat('trace_feedback g WHERE g.tenant_id = $1 AND g.run_id = f.run_id AND g.key = f.key')} AS stat
      FROM (SELECT f.run_id, ${summarised('f.run_id, f.key')} FROM trace_feedback f
        WHERE f.tenant_id = $1 AND f.run_id = ANY ($2::uuid[])) AS f
      GROUP BY f.run_id, f.key) AS by_key
    GROUP BY run_id) AS s ON s.run_id = k.run_id
  WHERE k.tenant_id = $1 AND k.run_id = ANY ($2::uuid[]) AND r.tenant_id = $1 AND r.project_id = k.project_id
    AND r.start_time = k.start_time AND r.run_id = k.run_id
    AND r.start_time BETWEEN $3::timestamptz AND $4::timestamptz`;

/** Feedback takes the project of its run, and its trace unless the feedback names one. */
const PLACE_WITH_RUNS = `
  UPDATE trace_feedback f SET project_id = r.project_id, trace_id = COALESCE(f.trace_id, r.trace_id)
  FROM trace_run_keys k JOIN trace_runs r ON r.tenant_id = k.tenant_id AND r.project_id = k.project_id
    AND r.start_time = k.start_time AND r.run_id = k.run_id
  WHERE k.tenant_id = $1 AND k.run_id = ANY ($2::uuid[]) AND f.tenant_id = $1 AND f.run_id = k.run_id
    AND r.start_time BETWEEN $3::timestamptz AND $4::timestamptz
    AND (f.project_id IS DISTINCT FROM r.project_id OR f.trace_id IS NULL)`;

@Injectable()
export class FeedbackRepository {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  async upsertFeedback(manager: EntityManager, tenantId: TenantId, rows: FeedbackValues[]): Promise<void> {
    const runIds = rows.flatMap(({ run_id: runId }) => runId ?? []);
    const [first, last] = (await startsOf(manager, tenantId, runIds)) ?? [null, null];
    await manager.query(UPSERT, [tenantId, first, last, ...COLUMNS.map((column) => rows.map((row) => row[column]))]);
  }

  /**
   * Updates the summaries of runs that the transaction has locked. Without the locks, of two concurrent changes neither would see
   * the other.
   */
  async refreshStats(manager: EntityManager, tenantId: TenantId, runIds: string[]): Promise<void> {
    const starts = await startsOf(manager, tenantId, runIds);
    if (starts) await manager.query(REFRESH_STATS, [tenantId, runIds, ...starts]);
  }

  /**
   * Moves the feedback on runs, which the transaction has locked, to the places that these have now. The audit log
   * leaves that out: the caller has uploaded runs, and hasn't changed the feedback.
   */
  async placeWithRuns(manager: EntityManager, tenantId: TenantId, runIds: string[]): Promise<void> {
    const starts = await startsOf(manager, tenantId, runIds);
    if (!starts) return;
    await unrecorded(manager, () => manager.query<unknown>(PLACE_WITH_RUNS, [tenantId, runIds, ...starts]));
  }

  /** Those of the runs that have feedback. */
  async withFeedback(manager: EntityManager, tenantId: TenantId, runIds: string[]): Promise<string[]> {
    const rows = await manager.query<{ run_id: string }[]>(
      'SELECT DISTINCT run_id FROM trace_feedback WHERE tenant_id = $1 AND run_id = ANY ($2::uuid[])',
      [tenantId, runIds],
    );
    return rows.map((row) => row.run_id);
  }

  /** The runs that stored feedback is on. */
  async runsOf(manager: EntityManager, tenantId: TenantId, feedbackIds: string[]): Promise<string[]> {
    const rows = await manager.query<{ run_id: string }[]>(
      `SELECT DISTINCT run_id FROM trace_feedback
       WHERE tenant_id = $1 AND feedback_id = ANY ($2::uuid[]) AND run_id IS NOT NULL`,
      [tenantId, feedbackIds],
    );
    return rows.map((row) => row.run_id);
  }

  async findFeedback(tenantId: TenantId, feedbackId: string): Promise<FeedbackRow | undefined> {
    const rows = await this.database.query<FeedbackRow[]>(
      `SELECT ${SELECTED} FROM trace_feedback f WHERE f.tenant_id = $1 AND f.feedback_id = $2`,
      [tenantId, feedbackId],
    );
    return rows[0];
  }

  async listFeedback(tenantId: TenantId, query: ListFeedback): Promise<FeedbackRow[]> {
    const parameters: unknown[] = [tenantId];
    const where = ['f.tenant_id = $1'];
    const add = (condition: (parameter: string) => string, given: unknown): void => {
      if (given === undefined) return;
      parameters.push(given);
      where.push(condition(`$${parameters.length}`));
    };
    add((p) => `f.run_id = ANY (${p}::uuid[])`, query.run);
    add((p) => `f.project_id = ANY (${p}::uuid[])`, query.session);
    add((p) => `f.key = ANY (${p}::text[])`, query.key);
    add((p) => `f.feedback_source ->> 'type' = ANY (${p}::text[])`, query.source);
    add((p) => `(f.score IS NOT NULL) = ${p}::boolean`, query.has_score);
    add((p) => `(f.comment IS NOT NULL) = ${p}::boolean`, query.has_comment);
    add((p) => `(f.run_id IS NOT NULL) = ${p}::boolean`, query.level && query.level === 'run');
    add((p) => `f.created_at >= ${p}::timestamptz`, query.min_created_at);
    add((p) => `f.created_at <= ${p}::timestamptz`, query.max_created_at);
    parameters.push(query.limit, query.offset);
    return await this.database.query<FeedbackRow[]>(
      `SELECT ${SELECTED} FROM trace_feedback f WHERE ${where.join(' AND ')}
       ORDER BY f.created_at DESC, f.feedback_id LIMIT $${parameters.length - 1} OFFSET $${parameters.length}`,
      parameters,
    );
  }

  /**
   * Replaces the given columns alone, so that concurrent updates of other columns stay.
   * @returns the run that the feedback is on; undefined when there is no such feedback
   */
  async updateFeedback(
    manager: EntityManager,
    tenantId: TenantId,
    feedbackId: string,
    changes: FeedbackChanges,
  ): Promise<{ runId: string | null } | undefined> {
    const columns = Object.keys(changes) as (keyof FeedbackChanges)[];
    const set = columns.map((column, index) => `${column} = $${index + 3}::${TYPES[column]}`);
    const [rows] = await manager.query<[{ run_id: string | null }[], number]>(
      `UPDATE trace_feedback SET ${[...set, 'modified_at = now()'].join(', ')}
       WHERE tenant_id = $1 AND feedback_id = $2 RETURNING run_id`,
      [tenantId, feedbackId, ...columns.map((column) => changes[column])],
    );
    return rows[0] && { runId: rows[0].run_id };
  }

  /** @returns the run that the deleted feedback was on; undefined when there was no such feedback. */
  async deleteFeedback(
    manager: EntityManager,
    tenantId: TenantId,
    feedbackId: string,
  ): Promise<{ runId: string | null } | undefined> {
    const [rows] = await manager.query<[{ run_id: string | null }[], number]>(
      'DELETE FROM trace_feedback WHERE tenant_id = $1 AND feedback_id = $2 RETURNING run_id',
      [tenantId, feedbackId],
    );
    return rows[0] && { runId: rows[0].run_id };
  }
}
