/**
 * @library @langchain/core 1.4.0
 * @patch Replaces the condition under which `invoke` of a model in the modules `language_models/chat_models` and
 * `language_models/llms` reads the model's stream: a callback prefers it.
 * @why LangGraph's own server adds such a callback to each run, and graphs are written for it: a model of Anthropic with a large
 * `maxTokens` refuses answers that aren't streamed, and one of OpenAI that is set to stream requests a file from the internet for
 * each of them. The callback itself would cost a quarter of the time of a graph whose nodes do little.
 * @upstream None known.
 * @remove When a model can be set to stream without a callback.
 */

const CONDITION = /!!runManagers\?\.\[0\]\.handlers\.find\((?:\w+\.)?callbackHandlerPrefersStreaming\)/;

/** Lets models stream also where no callback reads their tokens, in versions of the library that have the condition. */
export const streamedModels = {
  module: /\/@langchain\/core\/dist\/language_models\/(?:chat_models|llms)\.(cjs|js)$/,
  patch: (source: string): string => source.replace(CONDITION, 'true'),
};
