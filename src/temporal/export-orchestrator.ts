import { Injectable } from '@nestjs/common';
import { TypedSearchAttributes } from '@temporalio/common';
import type { exportScheduleWorkflow } from '../../workflows/export-schedule.workflow';
import type { exportWorkflow } from '../../workflows/export.workflow';
import { CANCEL_EXPORT_SIGNAL, exportWorkflowId } from '../../workflows/contracts/export.contract';
import { EXPORTS_QUEUE } from '../../workflows/contracts/queues';
import { exportIdAttribute, tenantIdAttribute } from '../../workflows/contracts/search-attributes';
import { AppConfig } from '../config/config';
import { TemporalClient } from './temporal-client';

/**
 * Added to an export's own deadline for the server's: an export that waits for its turn continues as new every hour, and its
 * end has to be written down. An export that the server ends nevertheless is started again by the sweep, and ends at once.
 */
const RUN_TIMEOUT_MARGIN_MS = 2 * 3_600_000;

/** Exports as workflows: `export-<export_id>`, ids only. */
@Injectable()
export class ExportOrchestrator {
  constructor(
    private readonly temporal: TemporalClient,
    private readonly config: AppConfig,
  ) {}

  /**
   * Starts the export's workflow unless it is running. A closed one starts again (after a retry of the export, or if the server
   * ended the workflow): finished work is in the rows, and if the export has ended, it closes at once. Resolves to false if it
   * was running.
   */
  async startExport(reference: { exportId: string; tenantId: string; isSchedule: boolean }): Promise<boolean> {
    const { exportId, tenantId, isSchedule } = reference;
    const { partitionConcurrency, timeoutMs } = this.config.exports;
    const args: Parameters<typeof exportWorkflow> & Parameters<typeof exportScheduleWorkflow> = [
      {
        exportId,
        tenantId,
        partitionConcurrency,
        heartbeatTimeoutMs: this.config.worker.heartbeatTimeoutMs,
        timeoutMs,
      },
    ];
    const options = {
      workflowId: exportWorkflowId(exportId),
      taskQueue: EXPORTS_QUEUE,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
      args,
      staticSummary: isSchedule ? 'scheduled bulk export' : 'bulk export',
      typedSearchAttributes: new TypedSearchAttributes([
        { key: exportIdAttribute, value: exportId },
        { key: tenantIdAttribute, value: tenantId },
      ]),
    };
    if (isSchedule) {
      return this.temporal.startOnce<typeof exportScheduleWorkflow>('exportScheduleWorkflow', options);
    }
    return this.temporal.startOnce<typeof exportWorkflow>('exportWorkflow', {
      ...options,
      workflowRunTimeout: timeoutMs + RUN_TIMEOUT_MARGIN_MS,
    });
  }

  /** Whether the export's workflow is running. Rejects when Temporal doesn't answer in time. */
  async isOpen(exportId: string, timeoutMs: number): Promise<boolean> {
    const state = await this.temporal.describe(exportWorkflowId(exportId), timeoutMs);
    return state?.status === 'RUNNING';
  }

  /** Requests the cancellation of the workflow; resolves to false if there is none. */
  cancelExport(exportId: string): Promise<boolean> {
    return this.temporal.signal(exportWorkflowId(exportId), CANCEL_EXPORT_SIGNAL);
  }
}
