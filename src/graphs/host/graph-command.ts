import { createRequire } from 'node:module';
import { Command, Send } from '@langchain/langgraph';
import type { AnyGraph } from './graph-loader';
import { esmBuildOf, resolveFrom } from './project-libraries';
import type { CommandInput } from './protocol';

const LANGGRAPH = '@langchain/langgraph';
/** Exports the class that every compiled graph is an instance of. */
const PREGEL = '@langchain/langgraph/pregel';
/** Packages of agents, which may have a copy of LangGraph below them. */
const AGENT_LIBRARIES = ['langchain', 'deepagents'];

/** What a client's commands are made of. */
export interface CommandClasses {
  Command: typeof Command;
  Send: typeof Send;
}

const OWN_CLASSES: CommandClasses = { Command, Send };

const byGraphClass = new WeakMap<object, Promise<CommandClasses>>();

/**
 * The classes of the copy of LangGraph that a graph was made with: the library recognises its own instances alone.
 * Gantry's own where that copy isn't found from the graph's file.
 */
export function commandClassesOf(graph: AnyGraph, file: string): Promise<CommandClasses> {
  const made = graph.constructor;
  const known = byGraphClass.get(made) ?? findClasses(graph, file);
  byGraphClass.set(made, known);
  return known;
}

async function findClasses(graph: AnyGraph, file: string): Promise<CommandClasses> {
  const agents = AGENT_LIBRARIES.map((library) => resolveFrom(file, library)).filter((path) => path !== undefined);
  for (const from of [file, ...agents]) {
    for (const load of [loadCommonJs, loadEsModule]) {
      const pregel = (await load(from, PREGEL)) as { Pregel?: new () => object } | undefined;
      if (!pregel?.Pregel || !(graph instanceof pregel.Pregel)) continue;
      const classes = (await load(from, LANGGRAPH)) as CommandClasses | undefined;
      if (classes) return classes;
    }
  }
  return OWN_CLASSES;
}

async function loadCommonJs(from: string, library: string): Promise<unknown> {
  const path = resolveFrom(from, library);
  return path && createRequire(from)(path);
}

async function loadEsModule(from: string, library: string): Promise<unknown> {
  const path = resolveFrom(from, library);
  const url = path && esmBuildOf(path);
  return url && import(url);
}

/** A command as the library takes it. */
export function toCommand({ update, resume, goto }: CommandInput, classes: CommandClasses): Command {
  const toTarget = (target: unknown): unknown =>
    typeof target === 'object' && target !== null && 'node' in target
      ? new classes.Send(String(target.node), 'input' in target ? target.input : undefined)
      : target;
  return new classes.Command({
    ...(update != null && { update: update as Record<string, unknown> }),
    ...(resume !== undefined && { resume }),
    ...(goto != null && { goto: (Array.isArray(goto) ? goto.map(toTarget) : toTarget(goto)) as string }),
  });
}
