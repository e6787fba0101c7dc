import { importBuild, buildsOf } from './project-libraries';
import type { RunError } from './protocol';

/** The error that LangGraph throws. */
interface RefusedResume extends Error {
  reason: string;
  interruptIds?: string[];
  pendingIds?: string[];
}

/**
 * A copy of LangGraph that knows nothing of it would ignore the answer.
 * @param file the graph's
 * @throws {Error} where the graph's project has such a copy
 */
export async function checkStrictResume(file: string): Promise<void> {
  const [build] = buildsOf(file, '@langchain/langgraph');
  // Without a copy of its own the project has Gantry's.
  if (build === undefined || 'UnknownInterruptError' in (await importBuild(build))) return;
  throw new Error(
    'strict_resume takes @langchain/langgraph 1.7 or newer, which the project of the graph does not have',
  );
}

/**
 * Why the answer was refused, as clients read it; nothing for an error of another kind.
 * @param name the error's, which may fail to be read
 */
export function refusalOf(name: string, error: unknown): Partial<RunError> {
  if (name !== 'UnknownInterruptError') return {};
  const { reason, interruptIds = [], pendingIds = [] } = error as Partial<RefusedResume>;
  return typeof reason === 'string' ? { reason, interrupt_ids: interruptIds, pending_ids: pendingIds } : {};
}
