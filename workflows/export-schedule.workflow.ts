import {
  ActivityCancellationType,
  CancellationScope,
  ChildWorkflowCancellationType,
  continueAsNew,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ExportActivities,
  ExportReference,
  ExportWorkflowInput,
  ExportWorkflowResult,
  exportWorkflowId,
} from './contracts/export.contract';
import { exportIdAttribute } from './contracts/search-attributes';
import { cancelExportSignal, exportWorkflow } from './export.workflow';

const { nextExportWindow, spawnExport, endExport } = proxyActivities<ExportActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  // A query and an insert take milliseconds: a request to cancel them would only race with their end. A row that was inserted
  // nevertheless is started by the sweep, like every row without a workflow.
  cancellationType: ActivityCancellationType.ABANDON,
});

/** Margin between the timeout of a spawned export and that of the server, as for other exports. */
const RUN_TIMEOUT_MARGIN_MS = 2 * 3_600_000;

/** Then it continues as new, about every 300 events: a history that an operator can still read. */
const WINDOWS_PER_RUN = 20;

/**
 * A scheduled export: timers, and an export of its own for each window.
 *
 * 1. Windows tile, because each begins where the row of the last spawned one ends; a window is spawned once, because its
 *    row is unique.
 * 2. A window that is due already (a start in the past, or days without a worker) is caught up in order, one after
 *    another: the next one waits for its end, so that a year of windows is not a stampede.
 * 3. Spawned exports live on by themselves: neither the schedule's end nor its cancellation touches them.
 * 4. It lives for years: it continues as new every so many windows, and what was spawned is in the rows.
 */
export async function exportScheduleWorkflow(input: ExportWorkflowInput): Promise<ExportWorkflowResult> {
  const reference: ExportReference = { exportId: input.exportId, tenantId: input.tenantId };
  const work = new CancellationScope();
  setHandler(cancelExportSignal, () => work.cancel());
  try {
    return await work.run(async () => {
      for (let windows = 0; ; windows += 1) {
        if (windows >= WINDOWS_PER_RUN) await continueAsNew<typeof exportScheduleWorkflow>(input);
        const next = await nextExportWindow(reference);
        if (next.next === 'over') return { ending: 'Gone' };
        setCurrentDetails(`next window: ${next.window.start} to ${next.window.end}`);
        const isLate = next.inMs <= 0;
        if (!isLate) await sleep(next.inMs);
        const { exportId } = await spawnExport({ ...reference, window: next.window });
        if (exportId !== null) await startSpawned(input, exportId, isLate);
      }
    });
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => endExport({ ...reference, ending: 'Cancelled' }));
    return { ending: 'Cancelled' };
  }
}

async function startSpawned(input: ExportWorkflowInput, exportId: string, untilItsEnd: boolean): Promise<void> {
  try {
    const spawned = await startChild(exportWorkflow, {
      workflowId: exportWorkflowId(exportId),
      args: [{ ...input, exportId }],
      workflowRunTimeout: input.timeoutMs + RUN_TIMEOUT_MARGIN_MS,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      typedSearchAttributes: labels(exportId),
    });
    // The outcome of a spawned export doesn't matter here: a failed window is shown as failed and doesn't delay the next.
    if (untilItsEnd) await spawned.result().catch(rethrowCancellation);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** The schedule's own labels under the spawned export's id; none where the namespace doesn't know them. */
function labels(exportId: string) {
  const { typedSearchAttributes } = workflowInfo();
  if (typedSearchAttributes.get(exportIdAttribute) === undefined) return typedSearchAttributes;
  return typedSearchAttributes.updateCopy([{ key: exportIdAttribute, value: exportId }]);
}

function rethrowCancellation(error: unknown): void {
  if (isCancellation(error)) throw error;
}
