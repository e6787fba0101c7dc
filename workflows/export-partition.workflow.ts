import { ActivityCancellationType, isCancellation, proxyActivities } from '@temporalio/workflow';
import {
  EXPORT_PARTITIONS_QUEUE,
  ExportActivities,
  PartitionResult,
  PartitionWorkflowInput,
} from './contracts/export.contract';

const { failPartition } = proxyActivities<ExportActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * One UTC day of an export. The activity resumes after the last file that was recorded, so attempts cost only the part in
 * flight; the number of attempts is not limited here, because a worker's death is one and the export has a deadline. The
 * service decides which failures are final: it counts those of the store and the database.
 */
export async function exportPartitionWorkflow(input: PartitionWorkflowInput): Promise<PartitionResult> {
  const { heartbeatTimeoutMs, ...partition } = input;
  const { exportPartition } = proxyActivities<ExportActivities>({
    taskQueue: EXPORT_PARTITIONS_QUEUE,
    // A day may be large; the export's own deadline cancels it.
    startToCloseTimeout: '7 days',
    heartbeatTimeout: heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    // The first retry follows soon, since the heartbeat timeout has passed already after a worker's death.
    retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  });
  try {
    return await exportPartition(partition);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    await failPartition({ ...partition, message: cause instanceof Error ? cause.message : String(cause) });
    return { ending: 'Failed', rows: 0, bytes: 0, files: 0 };
  }
}
