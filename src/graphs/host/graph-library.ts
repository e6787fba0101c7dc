import type { AnyGraph } from './graph-loader';
import { AGENT_LIBRARIES, buildsOf, importBuild, resolveFrom } from './project-libraries';

/** Exports the class that every compiled graph is an instance of. */
const PREGEL = '@langchain/langgraph/pregel';

/** One build of one copy of LangGraph. */
interface LibraryBuild {
  /** A module that uses this copy. */
  from: string;
  /** Which of the builds of each module it is. */
  index: number;
}

const byGraphClass = new WeakMap<object, Promise<LibraryBuild | undefined>>();

/**
 * Exports of a module of LangGraph, in the copy that a graph was made with, since each copy has its own classes and registries.
 * @param file the graph's
 * @returns undefined where that copy isn't found from the graph's file, or has no such module
 */
export async function importForGraph<M>(graph: unknown, file: string, module: string): Promise<M | undefined> {
  const build = await buildOf(graph as AnyGraph, file);
  const url = build && buildsOf(build.from, module, file)[build.index];
  return url === undefined ? undefined : ((await importBuild(url)) as M);
}

function buildOf(graph: AnyGraph, file: string): Promise<LibraryBuild | undefined> {
  const made = graph.constructor;
  const known = byGraphClass.get(made) ?? findBuild(graph, file);
  byGraphClass.set(made, known);
  return known;
}

async function findBuild(graph: AnyGraph, file: string): Promise<LibraryBuild | undefined> {
  const agents = AGENT_LIBRARIES.map((library) => resolveFrom(file, library)).filter((path) => path !== undefined);
  for (const from of [file, ...agents]) {
    for (const [index, build] of buildsOf(from, PREGEL, file).entries()) {
      const { Pregel } = (await importBuild(build)) as { Pregel?: new () => object };
      if (Pregel && graph instanceof Pregel) return { from, index };
    }
  }
  return undefined;
}
