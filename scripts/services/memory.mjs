import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Settings of glibc's allocator for the api, the worker and their graph processes. By default each of its arenas keeps freed memory,
 * and large blocks are taken from the arenas once one was freed: two arenas, with large blocks outside of them, keep 100 MB less.
 */
export const ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' };

/** Returns to the system what the start left: the supervisor has nothing to do from now on that would make V8 collect it. */
export function returnMemoryOfStart() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')({ type: 'major', flavor: 'last-resort' });
}
