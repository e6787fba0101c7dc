import { Command, Send } from '@langchain/langgraph';
import type { AnyGraph } from './graph-loader';
import { importForGraph } from './graph-library';
import type { CommandInput } from './protocol';

const LANGGRAPH = '@langchain/langgraph';

interface CommandClasses {
  Command: typeof Command;
  Send: typeof Send;
}

const OWN_CLASSES: CommandClasses = { Command, Send };

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

/** A target with its own input, which LangGraph calls a `Send`. */
function isTask(target: unknown): target is { node: unknown; input?: unknown } {
  return typeof target === 'object' && target !== null && 'node' in target;
}

/** The classes of the copy of LangGraph that a graph was made with: it recognises a `Send` by its class. */
async function commandClassesOf(graph: AnyGraph, file: string): Promise<CommandClasses> {
  return (await importForGraph<CommandClasses>(graph, file, LANGGRAPH)) ?? OWN_CLASSES;
}
