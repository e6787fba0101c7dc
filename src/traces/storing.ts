import { isContentError, isUnstorableText } from '../database/unstorable-text';
import { traceErrors } from './trace.errors';

/**
 * Executes statements that store what a client has sent.
 * @throws {ApiError} 422 when Postgres can't hold it
 */
export async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Characters that can't be stored have an answer of their own.
    if (isContentError(error) && !isUnstorableText(error)) throw traceErrors.unstorable();
    throw error;
  }
}
