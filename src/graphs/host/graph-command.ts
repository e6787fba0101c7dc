import { Command, Send } from '@langchain/langgraph';
import type { AnyGraph } from './graph-loader';
import { buildsOf, importBuild, resolveFrom } from './project-libraries';
import type { CommandInput } from './protocol';

const LANGGRAPH = '@langchain/langgraph';
/** Exports the class that every compiled graph is an instance of. */
const PREGEL = '@langchain/langgraph/pregel';
/** Packages of agents, which may have a copy of LangGraph below them. */
const AGENT_LIBRARIES = ['langchain', 'deepagents'];

interface CommandClasses {
  Command: typeof Command;
  Send: typeof Send;
}

const OWN_CLASSES: CommandClasses = { Command, Send };

const byGraphClass = new WeakMap<object, Promise<CommandClasses>>();

/**
 * A command as the library takes it.
 * @param file the graph's
 */
export async function toCommand(
  { update, resume, goto }: CommandInput,
  graph: AnyGraph,
  file: string,
): Promise<Command> {
  const targets = goto == null ? [] : [goto].flat();
  const classes = targets.some(isTask) ? await commandClassesOf(graph, file) : OWN_CLASSES;
  const nodes = targets.map((target) =>
    isTask(target) ? new classes.Send(String(target.node), target.input) : (target as string),
  );
  return new classes.Command({
    ...(update != null && { update: update as Record<string, unknown> }),
    ...(resume !== undefined && { resume }),
    ...(goto != null && { goto: nodes }),
  });
}

/** A target with an input of its own, which LangGraph calls a `Send`. */
function isTask(target: unknown): target is { node: unknown; input?: unknown } {
  return typeof target === 'object' && target !== null && 'node' in target;
}

/**
 * The classes of the copy of LangGraph that a graph was made with: it recognises a `Send` by its class. Gantry's own where
 * that copy isn't found from the graph's file.
 */
function commandClassesOf(graph: AnyGraph, file: string): Promise<CommandClasses> {
  const made = graph.constructor;
  const known = byGraphClass.get(made) ?? findClasses(graph, file);
  byGraphClass.set(made, known);
  return known;
}

async function findClasses(graph: AnyGraph, file: string): Promise<CommandClasses> {
  const agents = AGENT_LIBRARIES.map((library) => resolveFrom(file, library)).filter((path) => path !== undefined);
  for (const from of [file, ...agents]) {
    const libraries = buildsOf(from, LANGGRAPH);
    for (const [index, build] of buildsOf(from, PREGEL).entries()) {
      const { Pregel } = (await importBuild(build)) as { Pregel?: new () => object };
      const library = libraries[index];
      if (Pregel && graph instanceof Pregel && library)
        return (await importBuild(library)) as unknown as CommandClasses;
    }
  }
  return OWN_CLASSES;
}
