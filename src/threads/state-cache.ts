import { LRUCache } from 'lru-cache';
import type { StateOrigin } from './threads.repository';

/** Characters of all states that are kept, and of the longest one. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
const MAX_STATE_CHARACTERS = 1024 * 1024;

interface Kept {
  version: string;
  state: string;
}

/**
 * The states of threads that haven't changed since they were read, as JSON text. Only the code of a graph can make a state from
 * its checkpoint, in a process of its own, which takes several times as long as looking the thread up.
 */
export class StateCache {
  /** States by thread and selected fields. */
  private readonly kept = new LRUCache<string, Kept>({
    maxSize: MAX_CHARACTERS,
    maxEntrySize: MAX_STATE_CHARACTERS,
    sizeCalculation: ({ version, state }, key) => key.length + version.length + state.length,
  });

  /** The state of this version of the thread, from `read` if it isn't known. @param select fields of the state; all when absent */
  async get(
    { tenantId, threadId, version }: Pick<StateOrigin, 'tenantId' | 'threadId' | 'version'>,
    select: string[] | undefined,
    read: () => Promise<string>,
  ): Promise<string> {
    const key = JSON.stringify([tenantId, threadId, select]);
    const known = this.kept.get(key);
    if (known?.version === version) return known.state;
    const state = await read();
    this.kept.set(key, { version, state });
    return state;
  }
}
