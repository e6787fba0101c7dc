import { existsSync } from 'node:fs';
import type { RunnableConfig } from '@langchain/core/runnables';
import { interrupt, START, StateGraph } from '@langchain/langgraph';
import { registry } from '@langchain/langgraph/zod';
import { z } from 'zod';
import { pause, recordExecution } from './ledger-node';

const LOOK_MS = 50;

const State = z.object({
  /** A node that ends once the file `gate` exists. */
  held_at: z.string().optional(),
  gate: z.string().optional(),
  path: z
    .array(z.string())
    .default([])
    .register(registry, { reducer: { fn: (left: string[], right: string[]) => left.concat(right) } }),
});

const step = (name: string) => async (state: z.infer<typeof State>, config: RunnableConfig) => {
  const ended = await recordExecution(name, config);
  while (state.held_at === name && !existsSync(state.gate!)) await pause(LOOK_MS, config.signal);
  await ended();
  return { path: [name] };
};

/** The first revision of a graph that the next deploy changes. */
export const changing = new StateGraph(State)
  .addNode('one', step('a:one'))
  .addNode('two', step('a:two'))
  .addNode('three', step('a:three'))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', 'three')
  .compile({ name: 'changing' });

/** Waits for a person at a node that the next revision keeps. */
export const staying = new StateGraph(State)
  .addNode('approve', () => ({ path: [`a:${String(interrupt('Go on?'))}`] }))
  .addEdge(START, 'approve')
  .compile({ name: 'staying' });

/** Waits for a person at a node that the next revision removes. */
export const going = new StateGraph(State)
  .addNode('approve', () => ({ path: [`a:${String(interrupt('Go on?'))}`] }))
  .addEdge(START, 'approve')
  .compile({ name: 'going' });
