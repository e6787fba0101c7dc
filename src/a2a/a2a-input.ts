import { type Message, type Part, Role } from '@a2a-js/sdk';
import { parseJson } from '../http/json-limits';
import type { Agent } from './a2a-agents.service';
import { isAccepted, textOf, toBlock } from './a2a-content';
import { a2aErrors } from './a2a.errors';

/**
 * @throws ContentTypeNotSupportedError naming the first part that the agent doesn't accept, or the modes in which it can't
 * answer
 */
export function checkModes(agent: Agent, { parts }: Message, outputModes: string[]): void {
  for (const { content, mediaType } of parts) {
    // Text is accepted whatever type it declares; other parts are refused only for a declared type.
    if (mediaType === '' || (content?.$case === 'text' && mediaType.startsWith('text/'))) continue;
    if (!isAccepted(mediaType, agent.inputModes)) throw a2aErrors.mediaType(mediaType, agent.inputModes);
  }
  if (outputModes.length > 0 && !agent.outputModes.some((mode) => isAccepted(mode, outputModes))) {
    throw a2aErrors.outputModes(agent.outputModes);
  }
}

/**
 * The graph's input: text and files are one message of the conversation, data is merged into the other fields.
 * @throws RequestMalformedError for text to a graph that has no messages
 */
export function inputOf(agent: Agent, message: Message): Record<string, unknown> {
  const spoken = message.parts.filter((part) => dataOf(part) === undefined);
  const data = message.parts.flatMap((part) => dataOf(part) ?? []);
  if (spoken.length > 0 && !agent.talks) throw a2aErrors.noText(agent.fields);
  const input: Record<string, unknown> = {};
  for (const value of data) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw a2aErrors.dataNotObject();
    Object.assign(input, value);
  }
  if (spoken.length === 0) return input;
  const earlier = Array.isArray(input.messages) ? (input.messages as unknown[]) : [];
  return { ...input, messages: [...earlier, toLangChainMessage(message, spoken)] };
}

function toLangChainMessage(message: Message, parts: Part[]): Record<string, unknown> {
  const text = parts.length === 1 ? textOf(parts) : undefined;
  return {
    type: message.role === Role.ROLE_AGENT ? 'ai' : 'human',
    content: text ?? parts.map(toBlock),
    additional_kwargs: {
      a2a_message_id: message.messageId,
      ...(message.metadata && { a2a_metadata: message.metadata }),
    },
  };
}

/** The value of a data part, even if it was written as text. */
function dataOf({ content, mediaType }: Part): unknown[] | undefined {
  if (content?.$case === 'data') return [content.value as unknown];
  if (content?.$case !== 'text' || !isAccepted('application/json', [mediaType])) return undefined;
  try {
    return [parseJson(content.value)];
  } catch {
    return undefined;
  }
}

/** A graph's question, as its thread stores it. */
export interface Interrupt {
  id?: string;
  value?: unknown;
}

/**
 * Value with which a run answers the interrupts: the text, or the data (its `resume`, if it has one). Undefined if nothing was
 * asked (a breakpoint, a node in doubt), so that the graph just resumes.
 */
export function answerOf(message: Message, interrupts: Interrupt[]): { resume: unknown } | undefined {
  const asked = interrupts.filter(({ value }) => (value as { type?: string } | undefined)?.type !== 'unknown_outcome');
  if (asked.length === 0) return undefined;
  const answer = valueOf(message.parts);
  const ids = asked.flatMap(({ id }) => id ?? []);
  const isAddressed = typeof answer === 'object' && answer !== null && ids.some((id) => id in answer);
  if (ids.length > 1 && !isAddressed) return { resume: Object.fromEntries(ids.map((id) => [id, answer])) };
  return { resume: answer };
}

function valueOf(parts: Part[]): unknown {
  const data = parts.flatMap((part) => dataOf(part) ?? []);
  if (data.length > 0) {
    const [first] = data;
    if (typeof first === 'object' && first !== null && 'resume' in first) return first.resume;
    return data.length === 1 ? first : data;
  }
  const texts = parts.map((part) => (part.content?.$case === 'text' ? part.content.value : undefined));
  return texts.includes(undefined) ? parts.map(toBlock) : texts.join('\n');
}
