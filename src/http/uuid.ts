import { z } from 'zod';

/**
 * An id in a request, of every version and variant that Postgres' uuid takes. It becomes lower case, as the database returns
 * it: LangGraph's tables, the ids of workflows and the maps of this server compare ids as text.
 */
export const uuid = z.guid('must be a UUID').toLowerCase();

/** Whether the text, in any case, is an id that `uuid` takes. */
export function isUuid(text: string): boolean {
  return z.regexes.guid.test(text);
}
