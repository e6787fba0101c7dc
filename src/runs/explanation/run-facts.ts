import type { WorkflowState } from '../../temporal/workflow-state';
import type { RunEntity } from '../run.entity';

/** Facts about a run from the database. */
export interface StoredFacts {
  run: Pick<
    RunEntity,
    | 'runId'
    | 'threadId'
    | 'tenantId'
    | 'assistantId'
    | 'graphId'
    | 'status'
    | 'attempt'
    | 'taskQueue'
    | 'cancelAction'
    | 'cancelReason'
    | 'error'
    | 'scheduledAt'
    | 'createdAt'
    | 'startedAt'
    | 'endedAt'
  >;
  /** Attempts in a row that were lost after the run's last checkpoint. */
  lostAttempts: number;
  threadStatus: string;
  /** Whether the thread waits for an answer to an interrupt of this run, which is its newest one. */
  asks: boolean;
  /** The run that has to end before this one begins, if any. */
  ahead: { runId: string; status: string } | null;
  /** The newest events of the run, the newest last. */
  lastEvents: { seq: number; event: string }[];
  /** Id and time of the thread's newest checkpoint. */
  checkpoint: { id: string; time: string } | null;
  /** The run's webhook delivery; null if the run has none, as before its end. */
  delivery: { deliveryId: string; status: string; attempts: number } | null;
}

/** Facts from Temporal; a sentence if Temporal couldn't be asked. */
export type TemporalFacts = { workflow: WorkflowState | undefined; workers: number } | { unknown: string };

export interface RunFacts extends StoredFacts {
  now: Date;
  temporal: TemporalFacts;
}
