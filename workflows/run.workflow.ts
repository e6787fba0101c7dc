import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ActivityCancellationType,
  ActivityFailure,
  CancellationScope,
  isCancellation,
  ParentClosePolicy,
  patched,
  proxyActivities,
  proxyLocalActivities,
  startChild,
  TimeoutFailure,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { WEBHOOKS_QUEUE } from './contracts/queues';
import {
  EndRunInput,
  ExecuteRunResult,
  HeldRun,
  RunActivities,
  RunWorkflowInput,
  RunWorkflowResult,
} from './contracts/run.contract';
import { webhookWorkflowId } from './contracts/webhook.contract';
import { webhookDeliveryWorkflow } from './webhook-delivery.workflow';

// One database transaction, safe to repeat. Retried for as long as it takes: a run must not stay without an end because the
// database was unavailable.
const { endRun } = proxyActivities<RunActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** A run that is over by then costs Temporal nothing but its start and its end. */
const BEGIN_WAIT_MS = 2_000;
const BEGIN_TIMEOUT_MS = 30_000;

/**
 * A run, from the first claim by a worker to its end.
 *
 * 1. `beginRun` is a local activity: the worker that has the workflow begins the run, and waits a moment for its end.
 * 2. What takes longer is watched by `watchRun`, an activity on the task queue of the process that has the run: it beats for it.
 * 3. `executeRun` takes a run that no process has any more, or never had: it resumes from the last checkpoint, under a new
 *    fencing token. Where another process has the run, and the workflow doesn't know that it lost it, the run is watched there
 *    first: that process may be executing a node. A node may take hours: only the run's own timeout, a lost heartbeat and a lost
 *    session of its worker (src/runs/run-handover.ts, which fails the activity or replaces the workflow) end an attempt.
 * 4. What the graph itself does (an exception, an interrupt) is a result. The activities fail only where the worker, the
 *    database or Temporal failed, and are then repeated until the run's timeout.
 * 5. However it ends, the end is written once: by an activity, or here when no worker could.
 * 6. A webhook is a child that outlives the run.
 */
export async function runWorkflow(input: RunWorkflowInput): Promise<RunWorkflowResult> {
  const { runId } = input;
  let result;
  try {
    // In this order: a worker of an earlier release that has such a workflow begins it.
    const takesOver = input.takesOver && patched('takes-over');
    const begins = !takesOver && patched('begins-locally');
    result = begins ? await begin(input) : await execute(input, Date.now() + input.timeoutMs, input.from);
  } catch (error) {
    const end = endingOf(runId, error);
    result = await CancellationScope.nonCancellable(() => endRun(end));
  }
  if (result.deliveryId) await CancellationScope.nonCancellable(() => startDelivery(result.deliveryId!));
  return { ending: result.ending };
}

async function begin(input: RunWorkflowInput): Promise<ExecuteRunResult> {
  const { runId, timeoutMs, heartbeatTimeoutMs } = input;
  const deadline = Date.now() + timeoutMs;
  let from: string | undefined;
  const { beginRun } = proxyLocalActivities<RunActivities>({
    // Time for the database to answer; it includes no time of the graph.
    startToCloseTimeout: Math.min(BEGIN_TIMEOUT_MS, timeoutMs),
    retry: { maximumAttempts: 1 },
  });
  try {
    const waitMs = Math.min(BEGIN_WAIT_MS, heartbeatTimeoutMs / 4);
    const begun = await beginRun({ runId, waitMs });
    if (begun.state === 'ended') return begun.result;
    if (begun.state === 'held') {
      from = begun.taskQueue;
      return await watch(input, from, deadline);
    }
  } catch (error) {
    if (isCancellation(error) || Date.now() >= deadline) throw error;
    // Whatever happened to the attempt, the next one takes the run over, unless a process has the run.
  }
  return execute(input, deadline, from);
}

function watch(
  { runId, heartbeatTimeoutMs }: RunWorkflowInput,
  taskQueue: string,
  deadline: number,
): Promise<ExecuteRunResult> {
  const { watchRun } = proxyActivities<RunActivities>({
    taskQueue,
    scheduleToCloseTimeout: remainingMs(deadline),
    // A living process takes it at once; one that doesn't counts as dead, like one without a heartbeat.
    scheduleToStartTimeout: heartbeatTimeoutMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumAttempts: 1 },
  });
  return watchRun({ runId });
}

/** @param from task queue of the process that has lost the run, where it is known */
async function execute(input: RunWorkflowInput, deadline: number, from?: string): Promise<ExecuteRunResult> {
  const taken = await takeOver(input, deadline, from);
  if (!('state' in taken)) return taken;
  // Another process has it: one that was quicker to see a loss, or that this workflow didn't know of.
  try {
    return await watch(input, taken.taskQueue, deadline);
  } catch (error) {
    if (isCancellation(error) || Date.now() >= deadline) throw error;
  }
  return execute(input, deadline, taken.taskQueue);
}

function takeOver(
  { runId, heartbeatTimeoutMs }: RunWorkflowInput,
  deadline: number,
  from: string | undefined,
): Promise<ExecuteRunResult | HeldRun> {
  const { executeRun } = proxyActivities<RunActivities>({
    scheduleToCloseTimeout: remainingMs(deadline),
    heartbeatTimeout: heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    // The first retry follows at once, since the heartbeat timeout has passed already after a worker's death.
    retry: { initialInterval: '100 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
  });
  // A workflow of a worker of an earlier release doesn't know the answer that another process has the run.
  return patched('knows-who-lost-it') ? executeRun({ runId, from: from ?? null }) : executeRun({ runId });
}

const remainingMs = (deadline: number): number => Math.max(1, deadline - Date.now());

function endingOf(runId: string, error: unknown): EndRunInput {
  // An attempt that failed during its cancellation is not repeated, and the cancellation is carried out.
  if (isCancellation(error) || CancellationScope.current().consideredCancelled) return { runId, ending: 'interrupted' };
  if (isTimeout(error)) return { runId, ending: 'timeout' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return { runId, ending: 'error', message: cause instanceof Error ? cause.message : String(cause) };
}

/** This includes a timeout while a failed attempt waited for its retry: then the failure is the cause. */
function isTimeout(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  return error.cause instanceof TimeoutFailure || error.retryState === 'TIMEOUT';
}

async function startDelivery(deliveryId: string): Promise<void> {
  try {
    await startChild(webhookDeliveryWorkflow, {
      workflowId: webhookWorkflowId(deliveryId),
      taskQueue: WEBHOOKS_QUEUE,
      args: [{ deliveryId }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    });
  } catch (error) {
    // By the sweep, for a run that was over before its workflow began.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
