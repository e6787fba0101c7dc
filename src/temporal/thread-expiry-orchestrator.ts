import { Injectable } from '@nestjs/common';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { CRONS_QUEUE } from '../../workflows/contracts/queues';
import { THREAD_EXPIRY_SCHEDULE_ID, THREAD_EXPIRY_WORKFLOW_ID } from '../../workflows/contracts/thread-expiry.contract';
import type { threadExpiryWorkflow } from '../../workflows/thread-expiry.workflow';
import { TemporalClient } from './temporal-client';

/** The search for expired threads: one Schedule of the deployment, `thread-expiry`. */
@Injectable()
export class ThreadExpiryOrchestrator {
  constructor(private readonly temporal: TemporalClient) {}

  /** Creates the Schedule, or updates its settings; a paused one stays paused. */
  async schedule(intervalMinutes: number, limit: number): Promise<void> {
    const state = await this.temporal.describeSchedule(THREAD_EXPIRY_SCHEDULE_ID);
    await this.temporal.putSchedule<typeof threadExpiryWorkflow>({
      scheduleId: THREAD_EXPIRY_SCHEDULE_ID,
      spec: { intervals: [{ every: Math.max(1_000, Math.round(intervalMinutes * 60_000)) }] },
      action: {
        type: 'startWorkflow',
        workflowType: 'threadExpiryWorkflow',
        workflowId: THREAD_EXPIRY_WORKFLOW_ID,
        taskQueue: CRONS_QUEUE,
        args: [{ limit }],
      },
      // A missed search is not repeated, since the next one finds the same threads.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
      state: state ?? { note: 'Deletes or prunes threads whose time to live has passed' },
    });
  }
}
