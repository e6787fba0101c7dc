import type { BaseMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { END, interrupt, MessagesZodMeta, Send, START, StateGraph } from '@langchain/langgraph';
import { registry } from '@langchain/langgraph/zod';
import { z } from 'zod';

const State = z.object({
  messages: z.array(z.any() as z.ZodType<BaseMessage>).register(registry, MessagesZodMeta),
  path: z.array(z.string()).register(registry, {
    reducer: { fn: (before: string[], added: string[]) => [...before, ...added] },
    default: () => [],
  }),
});

const model = new FakeListChatModel({ responses: ['well said'] });

const inner = new StateGraph(State)
  .addNode('speak', async ({ messages }, config: RunnableConfig) => ({
    messages: [await model.invoke(messages, config)],
    path: ['speak'],
  }))
  .addEdge(START, 'speak')
  .addEdge('speak', END)
  .compile();

/** Uses what a graph of any version of the library may: a graph inside, a model, tasks of its own, and a question. */
export const graph = new StateGraph(State)
  .addNode('inner', inner)
  .addNode('add', ({ item }: { item: number }) => ({ path: [`add ${item}`] }), {
    input: z.object({ item: z.number() }),
  })
  .addNode('ask', () => ({ path: [String(interrupt<string, unknown>('Go on?'))] }))
  .addEdge(START, 'inner')
  .addConditionalEdges('inner', () => [new Send('add', { item: 1 })], ['add'])
  .addEdge('add', 'ask')
  .addEdge('ask', END)
  .compile();

const Log = z.object({
  log: z.array(z.number()).register(registry, {
    reducer: { fn: (before: number[], added: number[]) => [...before, ...added] },
    default: () => [],
  }),
});

/** Has a step of four tasks. */
export const fan = new StateGraph(Log)
  .addNode('work', ({ number }: { number: number }) => ({ log: [number] }), { input: z.object({ number: z.number() }) })
  .addConditionalEdges(START, () => [1, 2, 3, 4].map((number) => new Send('work', { number })), ['work'])
  .addEdge('work', END)
  .compile();
