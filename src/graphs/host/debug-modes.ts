import type { Chunk, LibraryMode } from './chunk-facts';

const WRAPPED: Record<string, LibraryMode> = { checkpoint: 'checkpoints', task: 'tasks', task_result: 'tasks' };

/** The modes to request from a LangGraph without `tasks` and `checkpoints`: its `debug` events wrap their data. */
export function withoutTaskModes(modes: LibraryMode[]): LibraryMode[] {
  const known = modes.filter((mode) => mode !== 'tasks' && mode !== 'checkpoints');
  return [...new Set<LibraryMode>([...known, 'debug'])];
}

/** The chunks, of the requested modes, that newer versions of LangGraph stream instead of a `debug` chunk. */
export function* unwrapDebug(chunk: Chunk, wanted: ReadonlySet<LibraryMode>): Generator<Chunk> {
  const [namespace, mode, data] = chunk;
  if (mode === 'debug') {
    const { type, payload } = data as { type: string; payload: unknown };
    const wrapped = WRAPPED[type];
    if (wrapped && wanted.has(wrapped)) yield [namespace, wrapped, payload];
  }
  if (wanted.has(mode)) yield chunk;
}
