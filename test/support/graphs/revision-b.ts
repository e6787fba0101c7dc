import { interrupt, START, StateGraph } from '@langchain/langgraph';
import { registry } from '@langchain/langgraph/zod';
import { z } from 'zod';

const State = z.object({
  path: z
    .array(z.string())
    .default([])
    .register(registry, { reducer: { fn: (left: string[], right: string[]) => left.concat(right) } }),
});

const step = (name: string) => () => ({ path: [name] });

/** The second revision: other code under the same names. */
export const changing = new StateGraph(State)
  .addNode('one', step('b:one'))
  .addNode('two', step('b:two'))
  .addNode('three', step('b:three'))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', 'three')
  .compile({ name: 'changing' });

/** Waits for a person at a node that the revision before has as well. */
export const staying = new StateGraph(State)
  .addNode('approve', () => ({ path: [`b:${String(interrupt('Go on?'))}`] }))
  .addEdge(START, 'approve')
  .compile({ name: 'staying' });

/** Waits for a person at a renamed node. */
export const going = new StateGraph(State)
  .addNode('review', () => ({ path: [`b:${String(interrupt('Go on?'))}`] }))
  .addEdge(START, 'review')
  .compile({ name: 'going' });
