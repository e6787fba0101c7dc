import { setTimeout as sleep } from 'node:timers/promises';
import type { RunnableConfig } from '@langchain/core/runnables';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { AIMessageChunk } from '@langchain/core/messages';
import type { ChatGenerationChunk } from '@langchain/core/outputs';
import { END, MessagesZodState, START, StateGraph } from '@langchain/langgraph';

const TOKENS = 200;

/** The library's model for tests ignores its pause when it is given its tokens. */
class PacedModel extends FakeStreamingChatModel {
  private readonly pauseMs: number;

  constructor(pauseMs: number) {
    super({
      chunks: Array.from(
        { length: TOKENS },
        (_, index) => new AIMessageChunk({ id: 'answer', content: `word-${index} ` }),
      ),
    });
    this.pauseMs = pauseMs;
  }

  override async *_streamResponseChunks(
    ...call: Parameters<FakeStreamingChatModel['_streamResponseChunks']>
  ): AsyncGenerator<ChatGenerationChunk> {
    for await (const chunk of super._streamResponseChunks(...call)) {
      if (this.pauseMs > 0) await sleep(this.pauseMs);
      yield chunk;
    }
  }
}

/** @param pauseMs milliseconds between two tokens */
function answering(name: string, pauseMs: number) {
  const model = new PacedModel(pauseMs);
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
