import { existsSync, readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Packages of agents, which may have a copy of LangGraph below them. */
export const AGENT_LIBRARIES = ['langchain', 'deepagents'];

/** Large, and imported by nearly every graph. */
const GRAPH_LIBRARIES = ['@langchain/langgraph', '@langchain/langgraph/prebuilt', '@langchain/core/tools', 'zod'];

/** Results of `resolveFrom` by folder and library: every graph of a folder asks, and the packages of a process don't change. */
const resolved = new Map<string, string | undefined>();

/**
 * Where the module `file` finds a library: the path of its CommonJS build.
 * @returns undefined when its project has no such dependency: then Gantry's own copy serves.
 */
export function resolveFrom(file: string, library: string): string | undefined {
  const key = `${dirname(file)}\0${library}`;
  if (!resolved.has(key)) resolved.set(key, find(file, library));
  return resolved.get(key);
}

function find(file: string, library: string): string | undefined {
  try {
    return createRequire(file).resolve(library);
  } catch {
    return undefined;
  }
}

/** The URL of the ES modules that a library of both kinds has beside its CommonJS build, as those of LangChain do. */
function esmBuildOf(commonJs: string): string | undefined {
  const path = commonJs.replace(/\.cjs$/, '.js');
  return path !== commonJs && existsSync(path) ? pathToFileURL(path).href : undefined;
}

/** Whether Node, and tsx like it, takes a module for CommonJS: by its ending, else by the nearest package.json. */
export function isCommonJs(file: string): boolean {
  const [, kind] = /^\.([cm])[jt]sx?$/.exec(extname(file)) ?? [];
  return kind === undefined ? !isModuleFolder(dirname(file)) : kind === 'c';
}

function isModuleFolder(folder: string): boolean {
  const path = join(folder, 'package.json');
  if (existsSync(path)) {
    try {
      return (JSON.parse(readFileSync(path, 'utf8')) as { type?: string }).type === 'module';
    } catch {
      return false;
    }
  }
  const parent = dirname(folder);
  return parent !== folder && isModuleFolder(parent);
}

/**
 * The builds of a library that the module `file` can load, as URLs: first the one of the user's kind of module, which is most
 * probably loaded already, then the other. Each has classes of its own. Empty when the project has no such dependency.
 * @param user the module that imports the library, or imports what `file` is a part of
 */
export function buildsOf(file: string, library: string, user = file): string[] {
  const commonJs = resolveFrom(file, library);
  if (commonJs === undefined) return [];
  const builds = [pathToFileURL(commonJs).href];
  const esm = esmBuildOf(commonJs);
  if (esm !== undefined) builds[isCommonJs(user) ? 'push' : 'unshift'](esm);
  return builds;
}

/** The exports of a build; none if it doesn't load, which the graphs that import it report. */
export async function importBuild(url: string): Promise<Record<string, unknown>> {
  return (await import(url).catch(() => ({}))) as Record<string, unknown>;
}

const CHECKPOINT_LIBRARY = '@langchain/langgraph-checkpoint';

/**
 * Calls back with what LangGraph's checkpoint library exports, once for each build of each copy of it that a module of this
 * process asks for, and before the module has it. A build that no module asks for is not loaded.
 * @param files modules that may use a copy of the library
 * @param onLoad called with one of the files that uses the copy, and what the build exports
 */
export function watchCheckpointLibraries(
  files: string[],
  onLoad: (file: string, exports: Record<string, unknown>) => void,
): void {
  const unseen = new Map<string, string>();
  for (const file of files) {
    const graphs = resolveFrom(file, '@langchain/langgraph');
    const user = [file, graphs].find((path) => path !== undefined && resolveFrom(path, CHECKPOINT_LIBRARY));
    for (const build of user ? buildsOf(user, CHECKPOINT_LIBRARY) : []) {
      if (!unseen.has(build)) unseen.set(build, file);
    }
  }
  const load = createRequire(__filename);
  registerHooks({
    resolve: (specifier, context, nextResolve) => {
      const found = nextResolve(specifier, context);
      const file = unseen.get(found.url);
      if (file !== undefined) {
        // Also of the question for it that follows now.
        unseen.delete(found.url);
        onLoad(file, load(fileURLToPath(found.url)) as Record<string, unknown>);
      }
      return found;
    },
  });
}

/**
 * Imports libraries before the graphs do. Once TypeScript is enabled (user-module.ts), every imported file is inspected; loading
 * libraries before that halves the time.
 */
export async function preloadGraphLibraries(graphFiles: string[]): Promise<void> {
  const builds = graphFiles.flatMap((file) => GRAPH_LIBRARIES.map((library) => buildsOf(file, library)[0]));
  for (const build of new Set(builds)) if (build) await importBuild(build);
}
