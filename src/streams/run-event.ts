import type { EncryptionContext } from '../database/at-rest';

/** One entry of a run's event log. `seq` counts from 0 without gaps and is the SSE id. */
export interface RunEvent {
  seq: number;
  event: string;
  /** JSON text. */
  data: string;
}

/** An event that an attempt appends to the log. */
export interface NewRunEvent extends RunEvent {
  tenantId: string;
  runId: string;
  /** The fencing token of the attempt that made the event. */
  attempt: number;
  /** Encryption context of the run; undefined without a custom encryption. */
  encryptionContext?: EncryptionContext | undefined;
  /** Id of the task or checkpoint that the event reports; a repeated attempt emits what is missing. */
  fact?: string;
}

/** The part of a run's log that another attempt might emit again. */
export interface EmittedEvents {
  /** JSON texts of the newest `updates`, by the event's name (`updates`, `updates|node:task`). */
  updates: Record<string, string[]>;
  /** The newest committed events that were emitted, each after the name of its event: `values <checkpoint id>`. */
  facts: string[];
}

/**
 * The last entry of every log, written in the transaction that ends the run. Clients don't see it as an event: it closes
 * streams and ends waits.
 */
export const END_EVENT = '__end__';

export interface RunEnd {
  status: 'success' | 'error' | 'timeout' | 'interrupted' | 'deleted';
  /** Answer of `wait` and `join`. */
  result: unknown;
}

/** Payload: ids of runs that have new events, separated by commas; END_HINT follows the id of one that has ended. */
export const RUN_EVENTS_CHANNEL = 'gantry_run_events';
export const END_HINT = '!';

export interface RunHint {
  runId: string;
  isEnd: boolean;
}

export function parseHint(hint: string): RunHint {
  const isEnd = hint.endsWith(END_HINT);
  return { runId: isEnd ? hint.slice(0, -END_HINT.length) : hint, isEnd };
}

/** Payload: a tenant and its thread whose state was edited by hand, with a slash between them. */
export const THREAD_STATE_CHANNEL = 'gantry_thread_state';
/** Payload: the id of a run that can begin, the id of its tenant, and `STREAMED` where that applies, with spaces between them. */
export const RUN_DUE_CHANNEL = 'gantry_run_due';
export const STREAMED = 'streamed';

export interface DueRun {
  runId: string;
  tenantId: string;
  /** Whether the request that created the run reads its events as they come. */
  isStreamed: boolean;
}

export function parseDue(payload: string): DueRun {
  const [runId, tenantId = '', kind] = payload.split(' ');
  return { runId, tenantId, isStreamed: kind === STREAMED };
}

/** Payload: the id of a run that its worker is to end. */
export const RUN_CANCEL_CHANNEL = 'gantry_run_cancel';
