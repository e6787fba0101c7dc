import type { RunnableConfig } from '@langchain/core/runnables';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { AIMessageChunk } from '@langchain/core/messages';
import { END, MessagesZodState, START, StateGraph } from '@langchain/langgraph';

const TOKENS = 200;

/** @param sleep milliseconds between two tokens */
function answering(name: string, sleep: number) {
  const model = new FakeStreamingChatModel({
    sleep,
    chunks: Array.from(
      { length: TOKENS },
      (_, index) => new AIMessageChunk({ id: 'answer', content: `word-${index} ` }),
    ),
  });
  return new StateGraph(MessagesZodState)
    .addNode('say', async ({ messages }, config: RunnableConfig) => ({
      messages: [await model.invoke(messages, config)],
    }))
    .addEdge(START, 'say')
    .addEdge('say', END)
    .compile({ name });
}

/** Its model takes no time, so that only the transport of its tokens is measured. */
export const graph = answering('tokens', 0);
/** Its model writes as fast as people read. */
export const chat = answering('chat', 20);
