import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../database/json';
import { runnableConfigErrors } from './runnable-config.errors';

interface WithContext {
  config?: { configurable?: JsonObject | undefined } | undefined;
  context?: JsonObject | undefined;
}

/** Whether an object has any key. */
export const isGiven = (object: object | undefined): boolean => Object.keys(object ?? {}).length > 0;

/** Keys of `configurable` that the server sets for each run. */
const OF_RUN: ReadonlySet<string> = new Set([
  ...['run_id', 'thread_id', 'graph_id', 'assistant_id', 'run_attempt', 'unknown_outcome_tasks'],
]);

/**
 * Checks a body of an assistant, a run or a cron: `context` and `config.configurable` are two names for the same values.
 * @throws {ApiError} 400 when both are given and `configurable` has other values than `context`
 */
export function checkContext({ config, context }: WithContext): void {
  if (isGiven(context) && isGiven(config?.configurable) && !isRepeated(config?.configurable, context)) {
    throw runnableConfigErrors.configAndContext();
  }
}

/**
 * Whether `configurable` repeats the values of `context`. A graph that calls another one passes on the config of its own run, in
 * which the server has put the values under both names, and in `configurable` also what concerns that run: ids, headers, a cron.
 */
function isRepeated(configurable: JsonObject = {}, context: JsonObject = {}): boolean {
  const isOfRun = 'run_attempt' in configurable;
  return Object.entries(configurable).every(([key, value]) => {
    if (isOfRun && (OF_RUN.has(key) || !(key in context))) return true;
    return isDeepStrictEqual(value, context[key]);
  });
}
