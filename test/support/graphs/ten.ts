import type { RunnableConfig } from '@langchain/core/runnables';
import { END, Send, START, StateGraph } from '@langchain/langgraph';
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

function step(name: string, ms?: number) {
  return async ({ step_ms }: Values, config: RunnableConfig) => {
    const ended = await recordExecution(name, config);
    await pause(ms ?? step_ms, config.signal);
    await ended();
    return { done: [name] };
  };
}

/** Nodes in a row, each counted in the ledger. */
function chain(length: number) {
  const names = Array.from({ length }, (_, index) => `node_${index + 1}`);
  return new StateGraph(State)
    .addSequence(names.map((name): [string, ReturnType<typeof step>] => [name, step(name)]))
    .addEdge(START, names[0])
    .addEdge(names[length - 1], END);
}

/** Two nodes in parallel: one ends at once, the other takes time. */
export const fork = new StateGraph(State)
  .addNode('quick', step('quick', 0))
  .addNode('slow', step('slow'))
  .addEdge(START, 'quick')
  .addEdge(START, 'slow')
  .addEdge('quick', END)
  .addEdge('slow', END)
  .compile({ name: 'fork' });

/** Threads in which the first node of `fan` has failed. */
const failed = new Set<unknown>();

/** Four nodes in parallel, of which the first fails once in each thread that asks for it. */
export const fan = new StateGraph(State.extend({ fails: z.boolean().default(false) }))
  .addNode('work', async ({ number, fails, ...values }: Values & { number: number; fails: boolean }, config) => {
    const thread: unknown = config.configurable?.thread_id;
    if (fails && number === 1 && !failed.has(thread)) {
      failed.add(thread);
      throw new Error('flaky');
    }
    return step(`work_${number}`)(values, config);
  })
  .addConditionalEdges(START, (values) => [1, 2, 3, 4].map((number) => new Send('work', { ...values, number })), [
    'work',
  ])
  .addEdge('work', END)
  .compile({ name: 'fan' });

/** Ends the thread that it runs in, as running out of memory does. */
export const poison = new StateGraph(State)
  .addNode('fine', step('fine'))
  .addNode('deadly', async (_: Values, config: RunnableConfig) => {
    await recordExecution('deadly', config);
    process.exit(1);
  })
  .addEdge(START, 'fine')
  .addEdge('fine', 'deadly')
  .addEdge('deadly', END)
  .compile({ name: 'poison' });

export const ten = chain(10).compile({ name: 'ten' });
export const three = chain(3).compile({ name: 'three' });
