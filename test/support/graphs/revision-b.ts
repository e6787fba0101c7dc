import type { RunnableConfig } from '@langchain/core/runnables';
import { interrupt, START, StateGraph } from '@langchain/langgraph';
import { registry } from '@langchain/langgraph/zod';
import { z } from 'zod';
import { pause } from './ledger-node';

const State = z.object({
  nap_ms: z.number().default(0),
  path: z
    .array(z.string())
    .default([])
    .register(registry, { reducer: { fn: (left: string[], right: string[]) => left.concat(right) } }),
});

const step =
  (name: string) =>
  async ({ nap_ms }: z.infer<typeof State>, config: RunnableConfig) => {
    await pause(nap_ms, config.signal);
    return { path: [name] };
  };

/** The second revision: other code under the same names. */
export const changing = new StateGraph(State)
  .addNode('one', step('b:one'))
  .addNode('two', step('b:two'))
  .addNode('three', step('b:three'))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', 'three')
  .compile({ name: 'changing' });

/** Waits for a person at a node that stays. */
export const staying = new StateGraph(State)
  .addNode('approve', () => ({ path: [`b:${String(interrupt('Go on?'))}`] }))
  .addEdge(START, 'approve')
  .compile({ name: 'staying' });

/** Waits for a person at a node of another name. */
export const going = new StateGraph(State)
  .addNode('review', () => ({ path: [`b:${String(interrupt('Go on?'))}`] }))
  .addEdge(START, 'review')
  .compile({ name: 'going' });
