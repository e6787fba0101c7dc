import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../auth/tenant';
import { TraceIngestRepository } from '../ingest/trace-ingest.repository';
import { storing } from '../storing';
import { traceErrors } from '../trace.errors';
import { toChanges, toValues } from './feedback-values';
import { FeedbackRepository, FeedbackRow, FeedbackValues } from './feedback.repository';
import type { CreateFeedback, ListFeedback, UpdateFeedback } from './feedback.schemas';

@Injectable()
export class FeedbackService {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly feedback: FeedbackRepository,
    private readonly runs: TraceIngestRepository,
  ) {}

  async createFeedback(tenantId: TenantId, body: CreateFeedback): Promise<FeedbackRow> {
    const id = body.id?.toLowerCase() ?? uuidv7();
    await this.store(tenantId, toValues({ ...body, id }));
    return this.readFeedback(tenantId, id);
  }

  /** The runs whose summaries these items change: those that they are on, and those that they were on before. */
  async runsOf(manager: EntityManager, tenantId: TenantId, items: FeedbackValues[]): Promise<string[]> {
    if (items.length === 0) return [];
    const before = await this.feedback.runsOf(
      manager,
      tenantId,
      items.map(({ feedback_id: id }) => id),
    );
    return [...new Set([...before, ...items.flatMap(({ run_id: runId }) => runId?.toLowerCase() ?? [])])];
  }

  /**
   * Writes feedback in the caller's transaction.
   * @param runIds the result of `runsOf`, which the transaction has locked
   */
  async writeFeedback(
    manager: EntityManager,
    tenantId: TenantId,
    items: FeedbackValues[],
    runIds: string[],
  ): Promise<void> {
    if (items.length === 0) return;
    // One row an id: a statement can't touch a row twice.
    const rows = new Map(items.map((values) => [values.feedback_id, values]));
    await this.feedback.upsertFeedback(manager, tenantId, [...rows.values()]);
    if (runIds.length > 0) await this.feedback.refreshStats(manager, tenantId, runIds);
  }

  /** Feedback that came before its run gets the run's place, and the run gets its summary; the same when a run has moved. */
  async refresh(manager: EntityManager, tenantId: TenantId, placedRunIds: string[]): Promise<void> {
    if (placedRunIds.length === 0) return;
    const runIds = await this.feedback.withFeedback(manager, tenantId, placedRunIds);
    // Most runs have none, and to plan the updates takes longer than to find that out.
    if (runIds.length === 0) return;
    await this.feedback.placeWithRuns(manager, tenantId, runIds);
    await this.feedback.refreshStats(manager, tenantId, runIds);
  }

  /** @throws {ApiError} 404 */
  async readFeedback(tenantId: TenantId, feedbackId: string): Promise<FeedbackRow> {
    const row = await this.feedback.findFeedback(tenantId, feedbackId);
    if (!row) throw traceErrors.feedbackNotFound();
    return row;
  }

  listFeedback(tenantId: TenantId, query: ListFeedback): Promise<FeedbackRow[]> {
    return this.feedback.listFeedback(tenantId, query);
  }

  /** Changes the given fields; null clears one. @throws {ApiError} 404 */
  async updateFeedback(tenantId: TenantId, feedbackId: string, body: UpdateFeedback): Promise<FeedbackRow> {
    await this.change(tenantId, feedbackId, (manager) =>
      this.feedback.updateFeedback(manager, tenantId, feedbackId, toChanges(body)),
    );
    return this.readFeedback(tenantId, feedbackId);
  }

  /** @throws {ApiError} 404 */
  async deleteFeedback(tenantId: TenantId, feedbackId: string): Promise<void> {
    await this.change(tenantId, feedbackId, (manager) => this.feedback.deleteFeedback(manager, tenantId, feedbackId));
  }

  /**
   * Changes stored feedback together with the summary of its run.
   * @param write returns the run that the feedback is on; undefined when there is no such feedback
   * @throws {ApiError} 404
   */
  private async change(
    tenantId: TenantId,
    feedbackId: string,
    write: (manager: EntityManager) => Promise<{ runId: string | null } | undefined>,
  ): Promise<void> {
    const change = async (manager: EntityManager): Promise<void> => {
      await this.runs.lockRuns(manager, tenantId, await this.feedback.runsOf(manager, tenantId, [feedbackId]));
      const changed = await write(manager);
      if (!changed) throw traceErrors.feedbackNotFound();
      if (changed.runId !== null) await this.feedback.refreshStats(manager, tenantId, [changed.runId]);
    };
    await storing(() => this.database.transaction(change));
  }

  private async store(tenantId: TenantId, values: FeedbackValues): Promise<void> {
    const write = async (manager: EntityManager): Promise<void> => {
      const runIds = await this.runsOf(manager, tenantId, [values]);
      await this.runs.lockRuns(manager, tenantId, runIds);
      await this.writeFeedback(manager, tenantId, [values], runIds);
    };
    await storing(() => this.database.transaction(write));
  }
}
