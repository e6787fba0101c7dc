/** The environment of a cron's workflow in its test over weeks: the time-skipping server has no Schedules and no graphs. */
import {
  ApplicationFailure,
  condition,
  executeChild,
  ParentClosePolicy,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { TypedSearchAttributes } from '@temporalio/common';
import { cronWorkflow } from '../../../workflows/cron.workflow';
import { type CronWorkflowInput, cronWorkflowId } from '../../../workflows/contracts/cron.contract';
import { CRONS_QUEUE } from '../../../workflows/contracts/queues';
import type { RunWorkflowInput } from '../../../workflows/contracts/run.contract';
import { scheduledStartAttribute } from '../../../workflows/contracts/search-attributes';

export { cronWorkflow };

export interface ScheduleInput {
  cron: CronWorkflowInput;
  /** Time at which it is due, in ISO 8601. */
  ticks: string[];
}

/** A Schedule with the overlap policy BUFFER_ONE: one wake-up in flight, the first of those that came meanwhile after it. */
export async function scheduleWorkflow({ cron, ticks }: ScheduleInput): Promise<void> {
  let isAwake = false;
  let buffered: string | undefined;
  let failure: Error | undefined;
  const wake = async (tick: string): Promise<void> => {
    await executeChild(cronWorkflow, {
      workflowId: `${cronWorkflowId(cron.cronId)}-${tick}`,
      taskQueue: CRONS_QUEUE,
      args: [cron],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      typedSearchAttributes: new TypedSearchAttributes([{ key: scheduledStartAttribute, value: new Date(tick) }]),
    });
  };
  const wakeAll = async (first: string): Promise<void> => {
    isAwake = true;
    for (let tick: string | undefined = first; tick !== undefined;) {
      await wake(tick);
      tick = buffered;
      buffered = undefined;
    }
    isAwake = false;
  };
  for (const tick of ticks) {
    await sleep(Date.parse(tick) - Date.now());
    if (isAwake) buffered ??= tick;
    else wakeAll(tick).catch((error: Error) => (failure = error));
  }
  await condition(() => !isAwake || failure !== undefined);
  if (failure) throw ApplicationFailure.nonRetryable(failure.message);
}

export interface LastingRunActivities {
  /** Resolves to how long the run takes; undefined when another one of its thread is going. */
  beginRun(runId: string): Promise<number | undefined>;
  finishRun(runId: string): Promise<void>;
}

const { beginRun, finishRun } = proxyActivities<LastingRunActivities>({ startToCloseTimeout: '1 minute' });

/** A run that takes hours of the server's clock, in the place of the one that runs a graph. */
export async function runWorkflow({ runId }: RunWorkflowInput): Promise<void> {
  if (workflowInfo().workflowId !== `run-${runId}`)
    throw ApplicationFailure.nonRetryable('Another id than the run has');
  const lastsMs = await beginRun(runId);
  if (lastsMs === undefined) return;
  await sleep(lastsMs);
  await finishRun(runId);
}
