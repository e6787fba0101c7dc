import { AsyncLocalStorage } from 'node:async_hooks';

/** The run or request that user code is executing for. */
export interface UserCodeScope {
  /** Fields of its log lines: the run, thread and graph. */
  fields: Record<string, string>;
  /** Headers that prove to the API whose call it is. */
  credentials?: Record<string, string>;
}

/** Follows user code through its promises, in every thread that runs some. */
export const userCodeScope = new AsyncLocalStorage<UserCodeScope>();
