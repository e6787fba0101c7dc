import type { TraceRunRow } from '../query/trace-runs.repository';
import type { Usage } from '../query/trace-usage.repository';
import type { Details, Feedback, ThreadRow, TurnPreview, TurnStats } from './trace-threads.repository';

/** A thread with its notable turns and its sums. */
export interface FoundThread {
  row: ThreadRow;
  first: TurnPreview | undefined;
  last: TurnPreview | undefined;
  failed: TurnPreview | undefined;
  details: Details;
  feedback: Feedback;
}

/** The sums of one thread, or of several. */
export interface FoundStats {
  stats: TurnStats;
  details: Details;
  feedback: Feedback;
}

/** Sums by the start of their time slot, in ascending order. */
export type FoundStatsSeries = Map<string, FoundStats>;

/** A trace of a thread with its place in it, counted from 1. */
export interface FoundTurn {
  row: TraceRunRow;
  usage: Usage | undefined;
  turnNumber: number | undefined;
}
