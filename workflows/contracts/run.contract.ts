export const runWorkflowId = (runId: string): string => `run-${runId}`;

export interface RunWorkflowInput {
  runId: string;
  /** The whole run, queueing for a worker included; then it ends as `timeout`. */
  timeoutMs: number;
  /** A worker that is silent for this long has lost the run. */
  heartbeatTimeoutMs: number;
  /** The process that had the run was lost: any worker takes it over at once. */
  takesOver?: boolean;
  /** Task queue of that process. Absent: it is unknown. */
  from?: string;
}

/**
 * How a run ended, as stored. `deleted`: the run was rolled back and no longer exists. `waiting`: it hasn't begun, since
 * another run is in flight on its thread, whose end starts this one.
 */
export type RunEnding = 'success' | 'error' | 'timeout' | 'interrupted' | 'deleted' | 'waiting';

export interface RunWorkflowResult {
  ending: RunEnding;
}

export interface ExecuteRunResult {
  ending: RunEnding;
  /** The webhook delivery of the run's end, if any. */
  deliveryId?: string;
}

export interface EndRunInput {
  runId: string;
  ending: 'error' | 'timeout' | 'interrupted';
  /** Failure outside the graph, for the run's error. */
  message?: string;
}

export interface BeginRunInput {
  runId: string;
  /** Time after which the answer is `held`. */
  waitMs: number;
}

/** The run is running in the process that polls this task queue. */
export interface HeldRun {
  state: 'held';
  taskQueue: string;
}

export type BeginRunResult =
  | { state: 'ended'; result: ExecuteRunResult }
  | HeldRun
  /** No process is known to own it, and this one doesn't claim it: it has no room, or is about to stop. */
  | { state: 'refused' };

export interface ExecuteRunInput {
  runId: string;
  /**
   * Task queue of the process whose attempt has failed: a run that another process has stays there. Null: it is unknown, and a run
   * that any process has stays there. Absent in workflows of earlier releases, which don't know that answer.
   */
  from?: string | null;
}

export interface RunActivities {
  /** Begins a run that no process owns, and waits a moment for its end. Never takes a run from another attempt. */
  beginRun(input: BeginRunInput): Promise<BeginRunResult>;
  /** Waits for the end of a run that is running in this process. Fails when it isn't. */
  watchRun(input: { runId: string }): Promise<ExecuteRunResult>;
  /**
   * Takes the run over and runs the graph to its end, its next interrupt, or the cancellation. Resumes from the last checkpoint when
   * repeated.
   */
  executeRun(input: ExecuteRunInput): Promise<ExecuteRunResult | HeldRun>;
  /** Ends a run that no worker could end. Changes nothing when it has ended already. */
  endRun(input: EndRunInput): Promise<ExecuteRunResult>;
}
