import type { RunnableConfig } from '@langchain/core/runnables';
import { DeltaValue, END, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';
import { pause } from './ledger-node';

const words = z.array(z.string());
const joined = (state: string[], writes: string[][]): string[] => state.concat(...writes);

const State = new StateSchema({
  /** Channel whose value is in about every third checkpoint. */
  often: new DeltaValue(words.default([]), { inputSchema: words, reducer: joined, snapshotFrequency: 3 }),
  /** Channel whose value is in no checkpoint of a short thread. */
  rarely: new DeltaValue(words.default([]), { inputSchema: words, reducer: joined }),
  left: z.number().default(0),
  sleep_ms: z.number().default(0),
});

/** Counts the steps that are `left`, in channels whose values checkpoints don't contain. */
export const delta = new StateGraph(State)
  .addNode('say', ({ left }) => ({ often: [`step ${left}`], rarely: [`step ${left}`], left: left - 1 }))
  .addNode('nap', async ({ sleep_ms }, config: RunnableConfig) => {
    await pause(sleep_ms, config.signal);
    return {};
  })
  .addEdge(START, 'say')
  .addConditionalEdges('say', ({ left }) => (left > 0 ? 'say' : 'nap'))
  .addEdge('nap', END)
  .compile({ name: 'delta' });
