import { tool } from '@langchain/core/tools';
import type { RunnableConfig } from '@langchain/core/runnables';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { z } from 'zod';

const SECRETS = [
  'x-user-token',
  'langgraph_auth_user',
  'langgraph_auth_user_id',
  'langgraph_auth_permissions',
  'api_key',
];
const State = Annotation.Root({ ...MessagesAnnotation.spec, ask: Annotation<boolean>, known: Annotation<number> });
const model = new FakeListChatModel({ responses: ['well said'] });
const count = tool(({ text }) => text.length, {
  name: 'count',
  description: 'Counts letters',
  schema: z.object({ text: z.string() }),
});

const innermost = new StateGraph(State)
  .addNode('speak', async ({ messages }, config: RunnableConfig) => ({
    messages: [await model.invoke(messages, config)],
  }))
  .addEdge(START, 'speak')
  .addEdge('speak', END)
  .compile({ name: 'innermost' });

const inner = new StateGraph(State).addNode('innermost', innermost).addEdge(START, 'innermost').compile();

/** Uses a tool, a model in a nested graph, events of its own and, on request, an interrupt. */
export const graph = new StateGraph(State)
  .addNode('look', async (_state, config: LangGraphRunnableConfig) => {
    const given: Record<string, unknown> = { ...config.configurable, ...config.context };
    config.writer?.({ custom: true });
    await count.invoke({ type: 'tool_call', id: 'c', name: 'count', args: { text: 'abc' } }, config);
    return { known: SECRETS.filter((name) => given[name] !== undefined).length };
  })
  .addNode('inner', inner)
  .addNode('approve', ({ ask }) => {
    if (ask) interrupt('Go on?');
    return {};
  })
  .addEdge(START, 'look')
  .addEdge('look', 'inner')
  .addEdge('inner', 'approve')
  .addEdge('approve', END)
  .compile({ name: 'canary' });
