import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Packages of agents, which may have a copy of LangGraph below them. */
export const AGENT_LIBRARIES = ['langchain', 'deepagents'];

/** Large, and imported by nearly every graph. */
const GRAPH_LIBRARIES = ['@langchain/langgraph', '@langchain/langgraph/prebuilt', '@langchain/core/tools', 'zod'];

/**
 * Where the module `file` finds a library: the path of its CommonJS build.
 * @returns undefined when its project has no such dependency: then Gantry's own copy serves.
 */
export function resolveFrom(file: string, library: string): string | undefined {
  try {
    return createRequire(file).resolve(library);
  } catch {
    return undefined;
  }
}

/** The URL of the ES modules that a library of both kinds has beside its CommonJS build, as those of LangChain do. */
export function esmBuildOf(commonJs: string): string | undefined {
  const path = commonJs.replace(/\.cjs$/, '.js');
  return path !== commonJs && existsSync(path) ? pathToFileURL(path).href : undefined;
}

/**
 * The builds of a library that the module `file` can load, as URLs: ES modules first, since graphs load these, then
 * CommonJS. Each has classes of its own. Empty when the project has no such dependency.
 */
export function buildsOf(file: string, library: string): string[] {
  const commonJs = resolveFrom(file, library);
  if (commonJs === undefined) return [];
  const esm = esmBuildOf(commonJs);
  return [...(esm === undefined ? [] : [esm]), pathToFileURL(commonJs).href];
}

/** The exports of a build; none if it doesn't load, which the graphs that import it report. */
export async function importBuild(url: string): Promise<Record<string, unknown>> {
  return (await import(url).catch(() => ({}))) as Record<string, unknown>;
}

const CHECKPOINT_LIBRARY = '@langchain/langgraph-checkpoint';

/** One build of one copy of LangGraph's checkpoint library. */
export interface CheckpointLibrary {
  /** A module that uses this copy. */
  file: string;
  exports: Record<string, unknown>;
}

/** The copies of LangGraph's checkpoint library that modules use, in both builds, each once. */
export function loadCheckpointLibraries(files: string[]): Promise<CheckpointLibrary[]> {
  const builds = new Map<string, string>();
  for (const file of files) {
    const graphs = resolveFrom(file, '@langchain/langgraph');
    const user = [file, graphs].find((path) => path !== undefined && resolveFrom(path, CHECKPOINT_LIBRARY));
    for (const build of user ? buildsOf(user, CHECKPOINT_LIBRARY) : []) {
      if (!builds.has(build)) builds.set(build, file);
    }
  }
  return Promise.all([...builds].map(async ([build, file]) => ({ file, exports: await importBuild(build) })));
}

/**
 * Imports libraries before the graphs do. Once TypeScript is enabled (user-module.ts), another thread is asked about every
 * imported file; loading libraries before that halves the time.
 */
export async function preloadGraphLibraries(graphFiles: string[]): Promise<void> {
  const builds = graphFiles.flatMap((file) => GRAPH_LIBRARIES.map((library) => resolveFrom(file, library)));
  for (const build of new Set(builds)) {
    const url = build && esmBuildOf(build);
    if (url) await importBuild(url);
  }
}
