import type { JsonObject } from '../database/json';
import { runnableConfigErrors } from './runnable-config.errors';

interface WithContext {
  config?: { configurable?: JsonObject | undefined } | undefined;
  context?: JsonObject | undefined;
}

/** Whether an object has any key. */
export const isGiven = (object: object | undefined): boolean => Object.keys(object ?? {}).length > 0;

/**
 * Checks a body of an assistant, a run or a cron: `context` and `config.configurable` are two names for the same values.
 * @throws {ApiError} 400 when both are given
 */
export function checkContext({ config, context }: WithContext): void {
  if (isGiven(context) && isGiven(config?.configurable)) throw runnableConfigErrors.configAndContext();
}
