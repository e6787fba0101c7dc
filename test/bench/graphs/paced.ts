import type { RunnableConfig } from '@langchain/core/runnables';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { END, MessagesZodState, START, StateGraph } from '@langchain/langgraph';

const PER_SECOND = 200;
const TOKENS = 1_200;

/** A section of an answer as models write them: prose, a list, a table and code. */
const sectionOf = (number: number): string => `
## Part ${number}

The **first** thing to know is that the worker takes the run, and that \`executeRun\` streams each event as it comes.

- An item with a [link](https://example.com/${number}) and a few more words of text
- Another item, which is _emphasized_ in one place

| step | duration | note |
| --- | --- | --- |
| load | ${number} ms | from the cache |
| run | ${number * 7} ms | with two tools |

\`\`\`ts
const total = steps.reduce((sum, { ms }) => sum + ms, 0);
\`\`\`
`;

const words = (): string[] => {
  const text = Array.from({ length: 40 }, (_, index) => sectionOf(index + 1)).join('\n');
  return text.split(/(?<= )/).slice(0, TOKENS);
};

/** A model that emits its tokens by the clock, 200 a second, as Markdown. */
class PacedModel extends BaseChatModel {
  override _llmType(): string {
    return 'paced';
  }

  override async _generate(): Promise<ChatResult> {
    const text = words().join('');
    return { generations: [{ message: new AIMessage(text), text }] };
  }

  override async *_streamResponseChunks(
    _messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const id = runManager?.runId ?? 'answer';
    const begun = performance.now();
    for (const [index, token] of words().entries()) {
      const wait = begun + (index * 1000) / PER_SECOND - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const chunk = new ChatGenerationChunk({ message: new AIMessageChunk({ id, content: token }), text: token });
      await runManager?.handleLLMNewToken(token, undefined, undefined, undefined, undefined, { chunk });
      yield chunk;
    }
  }
}

const model = new PacedModel({});

export const graph = new StateGraph(MessagesZodState)
  .addNode('say', async ({ messages }, config: RunnableConfig) => ({
    messages: [await model.invoke(messages, config)],
  }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile({ name: 'paced' });
