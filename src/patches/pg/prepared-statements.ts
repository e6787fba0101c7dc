/**
 * @library pg 8.23.1
 * @patch Replaces `query` of each connection by one that gives declared statements their names.
 * @why pg prepares only statements whose every call names them; the calls come through TypeORM and LangGraph, which name none.
 * @upstream None: the library leaves names to its callers.
 * @remove When TypeORM and LangGraph's saver pass the names of prepared statements on.
 */
import { Client, type ClientConfig } from 'pg';

const names = new Map<string, string>();

/**
 * Has each connection parse and plan a statement once instead of each time: for the statements of every run, which find
 * their rows by keys, so that one plan serves all parameters.
 * @param name of the prepared statement, unique in the process
 * @returns the text, to be sent like any other
 */
export function prepared(name: string, text: string): string {
  names.set(text, name);
  return text;
}

/** A connection that sends what was declared as prepared by its name. */
export class PreparingClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    // Its ways to be called are many, and only one has a text and its parameters in front.
    this.query = ((statement: unknown, values: unknown, ...rest: unknown[]) => {
      const name = typeof statement === 'string' && Array.isArray(values) ? names.get(statement) : undefined;
      const query = name === undefined ? statement : { name, text: statement };
      const all: unknown[] = [query, values, ...rest];
      return super.query(...(all as [never])) as unknown;
    }) as Client['query'];
  }
}
