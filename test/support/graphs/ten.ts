import type { RunnableConfig } from '@langchain/core/runnables';
import { END, START, StateGraph } from '@langchain/langgraph';
import { registry } from '@langchain/langgraph/zod';
import { z } from 'zod';
import { pause, recordExecution } from './ledger-node';

const State = z.object({
  step_ms: z.number().default(0),
  done: z
    .array(z.string())
    .default([])
    .register(registry, { reducer: { fn: (left: string[], right: string[]) => left.concat(right) } }),
});
type Values = z.infer<typeof State>;

function step(name: string) {
  return async ({ step_ms }: Values, config: RunnableConfig) => {
    const ended = await recordExecution(name, config);
    await pause(step_ms, config.signal);
    await ended();
    return { done: [name] };
  };
}

/** Nodes in a row, each counted in the ledger. */
function chain(length: number) {
  const names = Array.from({ length }, (_, index) => `node_${index + 1}`);
  const builder = new StateGraph(State);
  for (const name of names) builder.addNode(name, step(name));
  builder.addEdge(START, names[0]);
  for (let index = 1; index < length; index += 1) builder.addEdge(names[index - 1], names[index]);
  builder.addEdge(names.at(-1)!, END);
  return builder;
}

export const ten = chain(10).compile({ name: 'ten' });
export const three = chain(3).compile({ name: 'three' });
