import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';

/** Made for each use; it has a second channel while the file of GANTRY_TEST_SWITCH exists. */
export const switched = () => {
  const first = { first: z.string().default('one') };
  const state = z.object(existsSync(process.env.GANTRY_TEST_SWITCH ?? '') ? { ...first, second: z.string() } : first);
  return new StateGraph(state)
    .addNode('write', () => ({ first: 'written', second: 'written' }))
    .addEdge(START, 'write')
    .addEdge('write', END);
};

const Pair = z.object({ early: z.boolean().default(false), late: z.boolean().default(false) });

/** Two nodes at once, one of which ends long before the other. */
export const pair = new StateGraph(Pair)
  .addNode('first', async () => sleep(500, { early: true }))
  .addNode('second', async () => sleep(2_000, { late: true }))
  .addEdge(START, 'first')
  .addEdge(START, 'second')
  .addEdge('first', END)
  .addEdge('second', END)
  .compile();
