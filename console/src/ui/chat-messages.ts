import { type Fields, isObject } from './fields';

export interface ToolCall {
  id?: string;
  name: string;
  args: unknown;
}

/** A message of a conversation, as LangChain writes them. */
export interface ChatMessage {
  id?: string;
  type: string;
  content: unknown;
  name?: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  status?: string;
}

export interface Block {
  type?: string;
  text?: string;
  image_url?: string | { url?: string };
  source_type?: string;
  data?: string;
  mime_type?: string;
  mimeType?: string;
}

const isOptionalText = (value: unknown): boolean => value == null || typeof value === 'string';
const isContent = (value: unknown): boolean =>
  !Array.isArray(value) || value.every((block) => typeof block === 'string' || isObject(block));
const isCall = (value: unknown): boolean => isObject(value) && isOptionalText(value.name);
const areCalls = (value: unknown): boolean => value == null || (Array.isArray(value) && value.every(isCall));

/** Whether a value has the form of a message, with nothing in it that can't be rendered: graphs may store anything. */
const isMessage = (value: unknown): value is Fields & ChatMessage =>
  isObject(value) &&
  typeof value.type === 'string' &&
  'content' in value &&
  isContent(value.content) &&
  isOptionalText(value.name) &&
  areCalls(value.tool_calls);

/** The messages of a state; undefined where it holds none. */
export function messagesOf(values: unknown): ChatMessage[] | undefined {
  const found = (values as { messages?: unknown } | null | undefined)?.messages;
  return Array.isArray(found) && found.every(isMessage) ? found : undefined;
}

export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content == null ? '' : JSON.stringify(content);
  return content.map((block: Block | string) => (typeof block === 'string' ? block : (block.text ?? ''))).join('');
}

/** Ids of the calls that the messages make. */
export const toolCallIds = (messages: ChatMessage[]): Set<string | undefined> =>
  new Set(messages.flatMap(({ tool_calls: calls }) => (Array.isArray(calls) ? calls.map((call) => call?.id) : [])));

/** Results of tools by the id of the call, where they are shown. */
export const toolResults = (messages: ChatMessage[]): Map<string, ChatMessage> =>
  new Map(messages.filter(({ tool_call_id }) => tool_call_id !== undefined).map((each) => [each.tool_call_id!, each]));
