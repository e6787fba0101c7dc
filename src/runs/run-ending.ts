import { pick } from '../database/json';
import { storableJson, storableText } from '../database/storable-text';
import type { FinalState, RunError } from '../graphs/host/protocol';
import type { EventContent } from '../streams/event-rows';
import type { RunEnd } from '../streams/run-event';

/** How a run ends. */
export interface RunEnding {
  status: RunEnd['status'];
  error?: RunError;
  /** The state that the graph left; absent when the run never began or the state can't be read. */
  state?: FinalState;
  /** Answer of `wait` and `join`. */
  result: unknown;
  /** The last events of the run that are not in the log yet. */
  rest?: EventContent[];
}

/** @param state undefined when it is unknown */
export function completedEnding(status: 'success' | 'interrupted', state: FinalState | undefined): RunEnding {
  return { status, ...(state && { state }), result: resultOf(state) };
}

export function failedEnding(status: 'error' | 'timeout', error: RunError, state: FinalState | undefined): RunEnding {
  return { status, error, ...(state && { state }), result: { __error__: error } };
}

/** Rolled back: `state` is the thread's from before the run. */
export function deletedEnding(state: FinalState | undefined): RunEnding {
  return { status: 'deleted', ...(state && { state }), result: {} };
}

/** The values that are the graph's output, and the graph's questions if it waits for an answer. */
function resultOf(state: FinalState | undefined): unknown {
  if (!state) return {};
  const all = JSON.parse(state.values) as Record<string, unknown>;
  const values = state.output ? pick(all, state.output) : all;
  const interrupts = Object.values(JSON.parse(state.interrupts) as Record<string, unknown[]>).flat();
  return interrupts.length > 0 ? { ...(values as object), __interrupt__: interrupts } : values;
}

/**
 * The ending in a form that every table can store: a tool's output may contain text that Postgres rejects. The checkpoint keeps
 * the exact value.
 */
export function storableEnding(ending: RunEnding): RunEnding {
  const { error, state } = ending;
  return {
    ...ending,
    ...(error && { error: { ...error, error: storableText(error.error), message: storableText(error.message) } }),
    ...(state && {
      state: { ...state, values: storableJson(state.values), interrupts: storableJson(state.interrupts) },
    }),
  };
}

/** The ending without the run's own values, which no table can store. A cancelled run stays cancelled. */
export function unstorableEnding({ status }: RunEnding): RunEnding {
  if (status === 'interrupted' || status === 'deleted') return { status, result: {} };
  return failedEnding(
    'error',
    { error: 'UnstorableResult', message: 'The output of the run cannot be stored' },
    undefined,
  );
}
