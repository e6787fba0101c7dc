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

async function untilSwitched(name: string): Promise<void> {
  while (!existsSync(`${process.env.GANTRY_TEST_SWITCH}-${name}`)) await sleep(20);
}

/** Two nodes at once, each of which ends when a file has its name. */
export const pair = new StateGraph(Pair)
  .addNode('first', () => untilSwitched('first').then(() => ({ early: true })))
  .addNode('second', () => untilSwitched('second').then(() => ({ late: true })))
  .addEdge(START, 'first')
  .addEdge(START, 'second')
  .addEdge('first', END)
  .addEdge('second', END)
  .compile();
