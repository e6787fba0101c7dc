import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel, type BaseChatModelCallOptions } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';

const TOKEN_DELAY_MS = 15;

/**
 * A chat model without a model: it calls `get_weather` when asked about the weather and `add` when asked for a sum, and
 * says the rest itself, one token at a time. The same question always gets the same answer, so tests and first tries need
 * no key and no network.
 */
export class RuleBasedChatModel extends BaseChatModel<BaseChatModelCallOptions> {
  override _llmType(): string {
    return 'rule-based';
  }

  /** Agents bind their tools; the rules know them by name already. */
  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = this.answer(messages);
    return { generations: [{ message, text: message.text }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const answer = this.answer(messages);
    const id = `${runManager?.runId ?? 'answer'}-${messages.length}`;
    if (answer.tool_calls?.length) {
      const toolCallChunks = answer.tool_calls.map((call, index) => ({
        index,
        id: call.id,
        name: call.name,
        args: JSON.stringify(call.args),
        type: 'tool_call_chunk' as const,
      }));
      const message = new AIMessageChunk({ id, content: '', tool_call_chunks: toolCallChunks });
      const chunk = new ChatGenerationChunk({ message, text: '' });
      await runManager?.handleLLMNewToken('', undefined, undefined, undefined, undefined, { chunk });
      yield chunk;
      return;
    }
    for (const token of answer.text.split(/(?<= )/)) {
      await new Promise((resolve) => setTimeout(resolve, TOKEN_DELAY_MS));
      const chunk = new ChatGenerationChunk({ message: new AIMessageChunk({ id, content: token }), text: token });
      await runManager?.handleLLMNewToken(token, undefined, undefined, undefined, undefined, { chunk });
      yield chunk;
    }
  }

  private answer(messages: BaseMessage[]): AIMessage {
    const last = messages.at(-1);
    if (last?.getType() === 'tool') {
      return new AIMessage(`Here is what I found: ${last.text} Is there anything else?`);
    }
    const question = last?.text ?? '';
    const city = /weather (?:in|for|at) ([\p{L} ]+)/iu.exec(question)?.[1]?.trim();
    if (city) return callTool('get_weather', { city }, messages.length);
    const sum = /(-?\d+(?:\.\d+)?)\s*(?:\+|plus)\s*(-?\d+(?:\.\d+)?)/i.exec(question);
    if (sum) return callTool('add', { a: Number(sum[1]), b: Number(sum[2]) }, messages.length);
    return new AIMessage(`You said: "${question}". Ask me about the weather in a city, or for a sum like 2 + 3.`);
  }
}

function callTool(name: string, args: Record<string, unknown>, position: number): AIMessage {
  return new AIMessage({ content: '', tool_calls: [{ id: `call-${position}`, name, args, type: 'tool_call' }] });
}
