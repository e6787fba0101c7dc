import { shout } from '@acme/tools';
import { END, MessagesZodMeta, Send, START, StateGraph } from '@langchain/langgraph';
import { registry } from '@langchain/langgraph/zod';
import type { BaseMessage } from '@langchain/core/messages';
import { z } from 'zod';
import { greeting } from '@/lib/greeting';

const State = z.object({
  messages: z.array(z.any() as z.ZodType<BaseMessage>).register(registry, MessagesZodMeta),
});

export const graph = new StateGraph(State)
  .addNode(
    'say',
    async ({ text }: { text: string }) => ({
      messages: [{ role: 'ai', content: await shout.invoke({ text }) }] as unknown as BaseMessage[],
    }),
    { input: z.object({ text: z.string() }) },
  )
  .addConditionalEdges(START, () => [new Send('say', { text: greeting })], ['say'])
  .addEdge('say', END)
  .compile();
