import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';

const State = z.object({
  turns: z.number().int().min(1).describe('How many steps the run takes'),
  turn: z.number().int().default(0),
});

/** Runs one step after the other until the requested number of checkpoints exists. */
export const graph = new StateGraph(State)
  .addNode('step', ({ turn }) => ({ turn: turn + 1 }))
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ turn, turns }) => (turn < turns ? 'step' : END))
  .compile({ name: 'loop' });
