import { flushCompileCache } from 'node:module';

/**
 * Writes what V8 has compiled so far to NODE_COMPILE_CACHE, if that is set: for the next start, also where this process is
 * killed. Node itself writes it when a process exits.
 */
export function keepCompiledCode(): void {
  setImmediate(flushCompileCache);
}
