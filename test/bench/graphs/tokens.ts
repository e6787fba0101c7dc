import type { RunnableConfig } from '@langchain/core/runnables';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { AIMessageChunk } from '@langchain/core/messages';
import { END, MessagesZodState, START, StateGraph } from '@langchain/langgraph';

const TOKENS = 200;

/** A model that takes no time, so that only the transport of its tokens is measured. */
const model = new FakeStreamingChatModel({
  sleep: 0,
  chunks: Array.from({ length: TOKENS }, (_, index) => new AIMessageChunk({ id: 'answer', content: `word-${index} ` })),
});

export const graph = new StateGraph(MessagesZodState)
  .addNode('say', async ({ messages }, config: RunnableConfig) => ({
    messages: [await model.invoke(messages, config)],
  }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile({ name: 'tokens' });
