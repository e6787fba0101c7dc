export const runWorkflowId = (runId: string): string => `run-${runId}`;

export interface RunWorkflowInput {
  runId: string;
  /** The whole run, queueing for a worker included; then it ends as `timeout`. */
  timeoutMs: number;
  /** A worker that is silent for this long has lost the run. */
  heartbeatTimeoutMs: number;
  /** The process that had the run was lost: any worker takes it over at once. */
  takesOver?: boolean;
}

/**
 * How a run ended, as stored. `deleted`: rolled back, there is no run any more. `waiting`: it hasn't begun, since another
 * run is on its thread; that one's end starts this one again.
 */
export type RunEnding = 'success' | 'error' | 'timeout' | 'interrupted' | 'deleted' | 'waiting';

export interface RunWorkflowResult {
  ending: RunEnding;
}

export interface ExecuteRunResult {
  ending: RunEnding;
  /** The webhook delivery that the end of the run asked for. */
  deliveryId?: string;
}

export interface EndRunInput {
  runId: string;
  ending: 'error' | 'timeout' | 'interrupted';
  /** What went wrong outside the graph, for the run's error. */
  message?: string;
}

export interface BeginRunInput {
  runId: string;
  /** A run that takes longer is answered as `held`. */
  waitMs: number;
}

export type BeginRunResult =
  | { state: 'ended'; result: ExecuteRunResult }
  /** It is running in the process that polls this task queue. */
  | { state: 'held'; taskQueue: string }
  /** No process is known to have it, and this one doesn't take it: it has no room, or is about to stop. */
  | { state: 'refused' };

export interface RunActivities {
  /** Begins a run that no process has taken yet, and waits a moment for its end. Never takes a run from another attempt. */
  beginRun(input: BeginRunInput): Promise<BeginRunResult>;
  /** Waits for the end of a run that is running in this process. Fails when it isn't. */
  watchRun(input: { runId: string }): Promise<ExecuteRunResult>;
  /** Runs the graph to its end, its next interrupt, or the cancellation. Resumes at the last checkpoint when repeated. */
  executeRun(input: { runId: string }): Promise<ExecuteRunResult>;
  /** Ends a run that no worker could end. Changes nothing when it has ended already. */
  endRun(input: EndRunInput): Promise<ExecuteRunResult>;
}
