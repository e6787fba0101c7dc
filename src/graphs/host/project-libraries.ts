import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

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

const CHECKPOINT_LIBRARY = '@langchain/langgraph-checkpoint';

/**
 * The copies of LangGraph's checkpoint library that modules use, by URL, with a module that does. Both builds of each:
 * CommonJS and ES modules have classes of their own.
 */
export function checkpointLibraries(files: string[]): Map<string, string> {
  const builds = new Map<string, string>();
  for (const file of files) {
    const graphs = resolveFrom(file, '@langchain/langgraph');
    const library = resolveFrom(file, CHECKPOINT_LIBRARY) ?? (graphs && resolveFrom(graphs, CHECKPOINT_LIBRARY));
    if (!library) continue;
    for (const build of [pathToFileURL(library).href, esmBuildOf(library)]) {
      if (build && !builds.has(build)) builds.set(build, file);
    }
  }
  return builds;
}

/**
 * Imports what the graphs are about to import. A thread that has learned TypeScript (user-module.ts) asks another
 * thread about every file that it imports; what is loaded before that costs half of the time.
 */
export async function preloadGraphLibraries(graphFiles: string[]): Promise<void> {
  const builds = graphFiles.flatMap((file) => GRAPH_LIBRARIES.map((library) => resolveFrom(file, library)));
  for (const build of new Set(builds)) {
    const url = build && esmBuildOf(build);
    // One that fails to load fails the graphs that import it, with their names.
    if (url) await import(url).catch(() => undefined);
  }
}
