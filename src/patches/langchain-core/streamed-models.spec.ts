import { expectLibrary } from '../../../test/support/library-guard';
import { printedWith, WAYS_TO_LOAD } from '../../../test/support/patched-process';

describe('a model that is invoked without callbacks', () => {
  it.each(WAYS_TO_LOAD)('streams its answer, in %s, unless streaming is disabled', (_, load) => {
    const script = `
      (async () => {
        const { SimpleChatModel } = await ${load('@langchain/core/language_models/chat_models')};
        const { LLM } = await ${load('@langchain/core/language_models/llms')};
        const { AIMessageChunk } = await ${load('@langchain/core/messages')};
        const { ChatGenerationChunk, GenerationChunk } = await ${load('@langchain/core/outputs')};
        class Chat extends SimpleChatModel {
          _llmType() { return 'chat'; }
          async _call() { return 'whole'; }
          async *_streamResponseChunks() {
            for (const text of ['in ', 'pieces']) yield new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
          }
        }
        class Text extends LLM {
          _llmType() { return 'text'; }
          async _call() { return 'whole'; }
          async *_streamResponseChunks() {
            for (const text of ['in ', 'pieces']) yield new GenerationChunk({ text });
          }
        }
        console.log(JSON.stringify([
          (await new Chat({}).invoke('hi')).text,
          (await Object.assign(new Chat({}), { disableStreaming: true }).invoke('hi')).text,
          await new Text({}).invoke('hi'),
        ]));
      })();`;
    const output = printedWith({ streamedModels: 'langchain-core/streamed-models.ts' }, script);
    expectLibrary(
      output === JSON.stringify(['in pieces', 'whole', 'in pieces']),
      `LangChain decides otherwise than the patch takes it to whether a model streams: ${output}`,
    );
  });
});
