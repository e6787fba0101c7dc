import {
  CancellationScope,
  condition,
  ContinueAsNew,
  continueAsNew,
  defineQuery,
  defineSignal,
  executeChild,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import {
  CANCEL_EXPORT_SIGNAL,
  EXPORT_PROGRESS_QUERY,
  EXPORT_TURN_SIGNAL,
  EndExportResult,
  ExportActivities,
  exportPartitionWorkflowId,
  ExportEnding,
  ExportPlan,
  ExportProgressAnswer,
  ExportReference,
  ExportWorkflowInput,
  ExportWorkflowResult,
  exportWorkflowId,
  PartitionReference,
} from './contracts/export.contract';
import { exportPartitionWorkflow } from './export-partition.workflow';

export const cancelExportSignal = defineSignal(CANCEL_EXPORT_SIGNAL);
export const exportTurnSignal = defineSignal(EXPORT_TURN_SIGNAL);
export const exportProgressQuery = defineQuery<ExportProgressAnswer>(EXPORT_PROGRESS_QUERY);

// One database transaction, safe to repeat. Retried for as long as it takes, since the database may be unavailable for a while.
const { takeTurn, endExport, readProgress } = proxyActivities<ExportActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

// Counting a filtered project can take long; it is repeated when the worker is lost.
const { planExport } = proxyActivities<ExportActivities>({
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

// Checks each file in the store and writes two small ones. Not retried if the store refuses.
const { completeExport } = proxyActivities<ExportActivities>({
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 60 },
});

/** Interval at which a waiting export asks for its turn; a signal makes it ask at once. */
const TURN_POLL = '1 minute';
/** How often the details are brought up to date: soon at first, and then rarely enough for a history of a day. */
const FIRST_LOOK_MS = 10_000;
const LOOK_MS = 5 * 60_000;
/** Then it continues as new: with an hour of asking its history stays short, and its run timeout starts again. */
const TURN_POLLS_PER_RUN = 60;

/**
 * A one-off export, or one window of a schedule.
 *
 * 1. It waits for its turn: the tenant's oldest exports first, so many at once.
 * 2. It plans a partition for each UTC day and runs a child for each, a few at a time. What is done is in the rows, so
 *    that a new execution of this workflow continues where the last one was.
 * 3. Its deadline counts from its turn. Deadline and cancellation stop the children, which abort their uploads.
 * 4. A partition that fails stops further ones from starting; those that run finish, and the export is Failed.
 * 5. However it ends, its end is written, and those that wait are notified.
 */
export async function exportWorkflow(input: ExportWorkflowInput): Promise<ExportWorkflowResult> {
  const reference: ExportReference = { exportId: input.exportId, tenantId: input.tenantId };
  const progress: ExportProgressAnswer = { phase: 'waiting', partitionsTotal: 0, partitionsDone: 0, rows: 0, bytes: 0 };
  const work = new CancellationScope();
  let reason: 'Cancelled' | 'TimedOut' = 'Cancelled';
  let isHinted = false;
  setHandler(cancelExportSignal, () => work.cancel());
  setHandler(exportTurnSignal, () => {
    isHinted = true;
  });
  setHandler(exportProgressQuery, () => progress);

  let ending: ExportEnding;
  let message: string | undefined;
  try {
    ending = await work.run(async () => {
      let turn = await takeTurn(reference);
      for (let polls = 1; turn.turn === 'wait'; polls += 1) {
        if (polls > TURN_POLLS_PER_RUN) await continueAsNew<typeof exportWorkflow>(input);
        isHinted = false;
        await condition(() => isHinted, TURN_POLL);
        turn = await takeTurn(reference);
      }
      if (turn.turn === 'over') return 'Gone';
      const { remainingMs } = turn;
      const deadline = new CancellationScope();
      try {
        void deadline
          .run(() => sleep(remainingMs))
          .then(
            () => {
              reason = 'TimedOut';
              work.cancel();
            },
            () => undefined,
          );
        return await watched(reference, progress, () => exportAll(input, progress));
      } finally {
        deadline.cancel();
      }
    });
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    if (!isCancellation(error)) {
      ending = 'Failed';
      message = rootMessage(error);
    } else {
      ending = reason;
    }
  }
  return CancellationScope.nonCancellable(async () => {
    let result: EndExportResult = { waiting: [] };
    if (ending === 'Completed') {
      progress.phase = 'finishing';
      try {
        const completed = await completeExport(reference);
        if (!completed.isCompleted) ending = 'Cancelled';
        result = completed;
      } catch (error) {
        ending = 'Failed';
        message = rootMessage(error);
      }
    }
    if (ending !== 'Completed' && ending !== 'Gone') {
      result = await endExport({ ...reference, ending, ...(message !== undefined && { message }) });
    }
    for (const exportId of result.waiting) await notifyOfTurn(exportId);
    return { ending };
  });
}

/** Updates the details in Temporal UI while `work` runs, since partitions may take hours. */
async function watched<T>(
  reference: ExportReference,
  progress: ExportProgressAnswer,
  work: () => Promise<T>,
): Promise<T> {
  if (!patched('export-progress')) return work();
  const watch = new CancellationScope();
  void watch
    .run(async () => {
      for (let wait = FIRST_LOOK_MS; ; wait = Math.min(wait * 2, LOOK_MS)) {
        await sleep(wait);
        const standing = await readProgress(reference);
        if (!standing) return;
        Object.assign(progress, standing);
        report(progress);
      }
    })
    .catch((error: unknown) => {
      if (!isCancellation(error)) log.info('The progress of an export could not be read', { error: String(error) });
    });
  try {
    return await work();
  } finally {
    watch.cancel();
  }
}

/** Runs the partitions that are open, a few at a time and in order. */
async function exportAll(input: ExportWorkflowInput, progress: ExportProgressAnswer): Promise<'Completed' | 'Failed'> {
  const reference: ExportReference = { exportId: input.exportId, tenantId: input.tenantId };
  progress.phase = 'planning';
  let plan = await planExport(reference);
  progress.phase = 'exporting';
  while (plan.open.length > 0) {
    const { partitionsTotal, partitionsDone, rows, bytes } = plan;
    Object.assign(progress, { partitionsTotal, partitionsDone, rows, bytes });
    report(progress);
    const isComplete = await exportSome(plan, input, progress);
    if (!isComplete) return 'Failed';
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof exportWorkflow>(input);
    plan = await planExport(reference);
  }
  return 'Completed';
}

async function exportSome(
  plan: ExportPlan,
  input: ExportWorkflowInput,
  progress: ExportProgressAnswer,
): Promise<boolean> {
  const open = [...plan.open];
  const written = { rows: plan.rows, bytes: plan.bytes };
  let isComplete = true;
  const lane = async (): Promise<void> => {
    for (let next = open.shift(); next && isComplete; next = open.shift()) {
      const result = await exportPartition(next, input.heartbeatTimeoutMs);
      if (result.ending === 'Failed') isComplete = false;
      else {
        progress.partitionsDone += 1;
        // Files of running partitions may be counted in the progress already.
        written.rows += result.rows;
        written.bytes += result.bytes;
        progress.rows = Math.max(progress.rows, written.rows);
        progress.bytes = Math.max(progress.bytes, written.bytes);
      }
      report(progress);
    }
  };
  const lanes = Array.from({ length: input.partitionConcurrency }, () =>
    lane().catch((error: unknown) => {
      isComplete = false;
      throw error;
    }),
  );
  // All of them, also when one has failed or is cancelled: an export must not be over while a child still writes.
  for (const outcome of await Promise.allSettled(lanes)) if (outcome.status === 'rejected') throw outcome.reason;
  return isComplete;
}

function exportPartition(partition: PartitionReference, heartbeatTimeoutMs: number) {
  return executeChild(exportPartitionWorkflow, {
    workflowId: exportPartitionWorkflowId(partition.exportId, partition.day),
    args: [{ ...partition, heartbeatTimeoutMs }],
    // A partition whose earlier child was ended from outside is open, and runs again.
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    staticSummary: partition.day,
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
  });
}

function report(progress: ExportProgressAnswer): void {
  const { partitionsDone, partitionsTotal, partitionsStalled, rows, rowsTotal, bytes } = progress;
  const { rowsPerSecond, secondsLeft } = progress;
  const parts = [
    `${partitionsDone} of ${partitionsTotal} days done`,
    rowsTotal === undefined ? `${rows} rows` : `${rows} of ${rowsTotal} rows`,
    `${(bytes / 1e6).toFixed(1)} MB`,
  ];
  if (rowsPerSecond) parts.push(`${Math.round(rowsPerSecond)} rows/s`);
  if (typeof secondsLeft === 'number') parts.push(`about ${duration(secondsLeft)} left`);
  if (partitionsStalled) parts.push(`**${partitionsStalled} stalled**: no sign of life for a minute`);
  setCurrentDetails(parts.join(', '));
}

function duration(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}

/** Only a hint: an export that gets it asks for its turn, and would do so within a minute anyway. */
async function notifyOfTurn(exportId: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(exportWorkflowId(exportId)).signal(exportTurnSignal);
  } catch (error) {
    log.info('A waiting export could not be notified of its turn', { exportId, error: String(error) });
  }
}

/** The root cause, which the failures of activities and children wrap. */
function rootMessage(error: unknown): string {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root instanceof Error ? root.message : String(root);
}
