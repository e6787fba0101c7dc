import type { ExecuteRequest, GraphOutcome, RunEventMessage } from './protocol';

export interface ExecuteOptions {
  /** Called for a run that has to run alone in a fresh process, after the process is assigned and before the run begins. */
  onAlone?: () => Promise<void>;
  signal: AbortSignal;
  /** Aborted when the run is to stop after its next checkpoint, for another worker to resume it. */
  handBack: AbortSignal;
  /** Called with each batch of events; the run is held back while the promises of many batches are open. */
  onEvents: (events: RunEventMessage[]) => Promise<void>;
  /** Called with each node that begins. */
  onNode: (node: string) => void;
}

/** An execution in flight in a process. */
export interface Execution extends Pick<ExecuteOptions, 'signal' | 'onEvents' | 'onNode'> {
  request: ExecuteRequest;
  resolve: (outcome: GraphOutcome) => void;
  reject: (error: Error) => void;
  onAccepted: () => void;
  hasBegun?: true;
  /** Number of events in the log that are not acknowledged yet. */
  logged: number;
}

/** A call in flight in a process. */
export interface Call {
  /** Tenant of the states. */
  tenantId: string;
  resolve: (value: string) => void;
  reject: (error: Error) => void;
}

export interface StartedExecution {
  /** Whether the process began within the time. If not, the work is withdrawn and can be given to another one. */
  begun(timeoutMs: number): Promise<boolean>;
  outcome: Promise<GraphOutcome>;
}
