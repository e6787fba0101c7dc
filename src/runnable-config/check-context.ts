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
  'run_id',
  'thread_id',
  'graph_id',
  'assistant_id',
  'run_attempt',
  'unknown_outcome_tasks',
]);

/**
 * Checks a body of an assistant, a run or a cron: `context` and `config.configurable` are two names for the same values.
 * @throws {ApiError} 400 when both are given, unless they are the config of a hosted graph's run
 */
export function checkContext(body: WithContext): void {
  if (hasBoth(body)) throw runnableConfigErrors.configAndContext();
}

/** Whether values are given under both names, other than in the config of a hosted graph's run. */
export function hasBoth({ config, context }: WithContext): boolean {
  return isGiven(context) && isGiven(config?.configurable) && !isPassedOn(config?.configurable, context);
}

/**
 * Whether a graph passes on the config of its own run, in which the server has put the same values under both names, and in
 * `configurable` also what concerns that run: its ids, headers, a cron.
 */
function isPassedOn(configurable: JsonObject = {}, context: JsonObject = {}): boolean {
  if (!('run_attempt' in configurable)) return false;
  return Object.entries(configurable).every(
    ([key, value]) => OF_RUN.has(key) || !(key in context) || isDeepStrictEqual(value, context[key]),
  );
}
