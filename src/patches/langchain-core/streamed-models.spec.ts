import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expectLibrary } from '../../../test/support/library-guard';

const required = (...path: string[]): string => `require(${JSON.stringify(join(__dirname, ...path))})`;

describe('a model that is invoked without callbacks', () => {
  it.each([
    ['CommonJS', (name: string) => `require('${name}')`],
    ['an ES module', (name: string) => `await import('${name}')`],
  ])('streams its answer, in %s, unless streaming is disabled', (_, load) => {
    // A process of its own, since jest has a loader of its own. Node strips the types.
    const script = `
      const { streamedModels } = ${required('streamed-models.ts')};
      ${required('..', '..', 'graphs', 'host', 'patched-sources.ts')}.patchSources([streamedModels]);
      (async () => {
        const { SimpleChatModel } = ${load('@langchain/core/language_models/chat_models')};
        const { LLM } = ${load('@langchain/core/language_models/llms')};
        const { AIMessageChunk } = ${load('@langchain/core/messages')};
        const { ChatGenerationChunk, GenerationChunk } = ${load('@langchain/core/outputs')};
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
    const output = execFileSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8', stdio: 'pipe' });
    expectLibrary(
      output === `${JSON.stringify(['in pieces', 'whole', 'in pieces'])}\n`,
      `LangChain decides otherwise than the patch takes it to whether a model streams: ${output}`,
    );
  });
});
