import { Command, Send } from '@langchain/langgraph';
import type { CommandInput } from './protocol';

/** A command as the library takes it. */
export function toCommand({ update, resume, goto }: CommandInput): Command {
  return new Command({
    ...(update != null && { update: update as Record<string, unknown> }),
    ...(resume !== undefined && { resume }),
    ...(goto != null && { goto: (Array.isArray(goto) ? goto.map(toTarget) : toTarget(goto)) as string }),
  });
}

function toTarget(target: unknown): unknown {
  return typeof target === 'object' && target !== null && 'node' in target
    ? new Send(String(target.node), 'input' in target ? target.input : undefined)
    : target;
}
