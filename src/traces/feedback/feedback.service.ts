import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../../auth/tenant';
import { traceErrors } from '../trace.errors';
import { toValues } from './feedback-values';
import { FeedbackRepository, FeedbackRow, FeedbackValues } from './feedback.repository';
import type { CreateFeedback, ListFeedback, UpdateFeedback } from './feedback.schemas';

@Injectable()
export class FeedbackService {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly feedback: FeedbackRepository,
  ) {}

  async createFeedback(tenantId: TenantId, body: CreateFeedback): Promise<FeedbackRow> {
    const id = body.id?.toLowerCase() ?? uuidv7();
    await this.database.transaction((manager) => this.writeFeedback(manager, tenantId, [toValues({ ...body, id })]));
    return this.readFeedback(tenantId, id);
  }

  /** Feedback that came inside an upload, in the upload's own transaction. */
  async writeFeedback(manager: EntityManager, tenantId: TenantId, items: FeedbackValues[]): Promise<void> {
    if (items.length === 0) return;
    // One row an id: a statement can't touch a row twice.
    const rows = new Map(items.map((values) => [values.feedback_id, values]));
    await this.feedback.upsertFeedback(manager, tenantId, [...rows.values()]);
    const runIds = [...new Set([...rows.values()].map(({ run_id: runId }) => runId))];
    await this.refresh(
      manager,
      tenantId,
      runIds.filter((runId) => runId !== null),
    );
  }

  /** Runs whose feedback came before them get its summary. */
  async refresh(manager: EntityManager, tenantId: TenantId, runIds: string[]): Promise<void> {
    if (runIds.length > 0) await this.feedback.refreshStats(manager, tenantId, runIds);
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

  /** @throws {ApiError} 404 */
  async updateFeedback(tenantId: TenantId, feedbackId: string, body: UpdateFeedback): Promise<FeedbackRow> {
    const row = await this.readFeedback(tenantId, feedbackId);
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined && value !== null));
    const { feedback_id: id, project_id: sessionId, feedback_source: source, ...kept } = row;
    const merged = {
      ...kept,
      id,
      session_id: sessionId,
      feedback_source: source as CreateFeedback['feedback_source'],
      ...given,
    };
    const values = toValues({ ...merged, modified_at: null });
    await this.database.transaction((manager) => this.writeFeedback(manager, tenantId, [values]));
    return this.readFeedback(tenantId, feedbackId);
  }

  /** @throws {ApiError} 404 */
  async deleteFeedback(tenantId: TenantId, feedbackId: string): Promise<void> {
    await this.database.transaction(async (manager) => {
      const deleted = await this.feedback.deleteFeedback(manager, tenantId, feedbackId);
      if (!deleted) throw traceErrors.feedbackNotFound();
      if (deleted.runId === null) return;
      await this.feedback.clearStats(manager, tenantId, deleted.runId);
      await this.feedback.refreshStats(manager, tenantId, [deleted.runId]);
    });
  }
}
