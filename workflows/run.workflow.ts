import {
  ActivityCancellationType,
  ActivityFailure,
  CancellationScope,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  startChild,
  TimeoutFailure,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { WEBHOOKS_QUEUE } from './contracts/queues';
import { EndRunInput, RunActivities, RunWorkflowInput, RunWorkflowResult } from './contracts/run.contract';
import { webhookWorkflowId } from './contracts/webhook.contract';
import { webhookDeliveryWorkflow } from './webhook-delivery.workflow';

// One database transaction, safe to repeat. Retried for as long as it takes: a run must not stay without an end because
// the database was away.
const { endRun } = proxyActivities<RunActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * A run, from the worker's first hold of it to its end.
 *
 * 1. `executeRun` runs the graph. A node may take hours: only the run's own timeout and a lost heartbeat end an attempt.
 *    A repeated attempt goes on at the last checkpoint, under a new fencing token.
 * 2. What the graph itself does (an exception, an interrupt) is a result. The activity fails only where the worker, the
 *    database or Temporal failed, and is then repeated until the run's timeout.
 * 3. However it ends, the end is written once: by the activity, or here when no worker could.
 * 4. A webhook is a child that outlives the run.
 */
export async function runWorkflow(input: RunWorkflowInput): Promise<RunWorkflowResult> {
  const { runId } = input;
  const { executeRun } = proxyActivities<RunActivities>({
    scheduleToCloseTimeout: input.timeoutMs,
    heartbeatTimeout: input.heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    // The first repeat comes at once: after a worker's death the heartbeat timeout was the wait already.
    retry: { initialInterval: '100 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
  });
  let result;
  try {
    result = await executeRun({ runId });
  } catch (error) {
    const end = endingOf(runId, error);
    result = await CancellationScope.nonCancellable(() => endRun(end));
  }
  if (result.deliveryId) await CancellationScope.nonCancellable(() => startDelivery(result.deliveryId!));
  return { ending: result.ending };
}

function endingOf(runId: string, error: unknown): EndRunInput {
  // An attempt that failed while it was being cancelled is not repeated: the wish is carried out all the same.
  if (isCancellation(error) || CancellationScope.current().consideredCancelled) return { runId, ending: 'interrupted' };
  if (isTimeout(error)) return { runId, ending: 'timeout' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return { runId, ending: 'error', message: cause instanceof Error ? cause.message : String(cause) };
}

/** Also when the time ran out while a failed attempt waited for its repeat: the failure is the cause then. */
function isTimeout(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  return error.cause instanceof TimeoutFailure || error.retryState === 'TIMEOUT';
}

async function startDelivery(deliveryId: string): Promise<void> {
  await startChild(webhookDeliveryWorkflow, {
    workflowId: webhookWorkflowId(deliveryId),
    taskQueue: WEBHOOKS_QUEUE,
    args: [{ deliveryId }],
    parentClosePolicy: ParentClosePolicy.ABANDON,
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
  });
}
