import type { ChatMessage, ToolCall } from '../../ui/chat-messages';
import { type Fields, isObject } from '../../ui/fields';

const TYPES: Record<string, string> = { user: 'human', assistant: 'ai', function: 'tool', developer: 'system' };

/** LangChain's serialized form, with the class in `id` and the fields in `kwargs`. */
function unwrap(value: Fields): Fields {
  if (isObject(value.kwargs) && Array.isArray(value.id)) {
    return { ...value.kwargs, type: String(value.id.at(-1)) };
  }
  if (isObject(value.data) && typeof value.type === 'string') return { type: value.type, ...value.data };
  return value;
}

/** The arguments of a call; some models' clients write them as JSON in a text. */
function argumentsOf({ args, arguments: written }: Fields): unknown {
  if (args !== undefined || typeof written !== 'string') return args ?? written;
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
}

function callsOf(message: Fields): ToolCall[] {
  const extra = isObject(message.additional_kwargs) ? message.additional_kwargs : {};
  const calls = [message.tool_calls, extra.tool_calls].find((each) => Array.isArray(each) && each.length > 0);
  return ((calls as unknown[]) ?? []).filter(isObject).map((call) => {
    const made = isObject(call.function) ? call.function : call;
    return {
      ...(typeof call.id === 'string' && { id: call.id }),
      name: String(made.name),
      args: argumentsOf(made),
    };
  });
}

function toMessage(value: unknown): ChatMessage | undefined {
  if (!isObject(value)) return undefined;
  const message = unwrap(value);
  const role = message.role ?? message.type;
  if (typeof role !== 'string' || !('content' in message)) return undefined;
  const kind = role.replace(/message(chunk)?$/i, '').toLowerCase();
  const { name, tool_call_id: callId, status } = message;
  return {
    type: TYPES[kind] ?? kind,
    content: message.content,
    tool_calls: callsOf(message),
    ...(typeof name === 'string' && { name }),
    ...(typeof callId === 'string' && { tool_call_id: callId }),
    ...(typeof status === 'string' && { status }),
  };
}

function all(values: unknown[]): ChatMessage[] {
  const messages = values.map(toMessage);
  return messages.every((message) => message !== undefined) ? messages : [];
}

/**
 * The messages in a run's inputs or outputs in the form of LangChain, whichever form the traced client used (`messages`, one
 * `message`, or generations); empty if the run is no chat.
 */
export function messagesIn(value: unknown): ChatMessage[] {
  if (!isObject(value)) return Array.isArray(value) ? all(value) : [];
  const { messages, generations, output } = value;
  if (Array.isArray(messages)) return all(messages.flat());
  if (Array.isArray(generations)) {
    return all(generations.flat().map((each: unknown) => (isObject(each) ? each.message : undefined)));
  }
  const single = toMessage(output ?? value);
  return single ? [single] : [];
}
