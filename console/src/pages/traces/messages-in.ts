/** A message of a chat as traces have it, whichever way its client wrote it. */
export interface ShownMessage {
  role: string;
  name?: string;
  text: string;
  toolCalls: { name: string; args: unknown }[];
}

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const ROLES: Record<string, string> = { human: 'user', ai: 'assistant', function: 'tool', developer: 'system' };

/** LangChain's serialised form has the class in `id` and the fields in `kwargs`. */
function unwrap(value: Fields): Fields {
  if (isObject(value.kwargs) && Array.isArray(value.id)) {
    const name = String(value.id.at(-1)).replace(/Message(?:Chunk)?$/, '');
    return { type: name.toLowerCase(), ...value.kwargs };
  }
  if (isObject(value.data) && typeof value.type === 'string') return { type: value.type, ...value.data };
  return value;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => {
      if (typeof part === 'string') return part;
      if (!isObject(part)) return '';
      return typeof part.text === 'string' ? part.text : `[${String(part.type)}]`;
    })
    .join('\n');
}

function callsOf(message: Fields): ShownMessage['toolCalls'] {
  const extra = isObject(message.additional_kwargs) ? message.additional_kwargs : {};
  const calls = [message.tool_calls, extra.tool_calls].find((each) => Array.isArray(each) && each.length > 0);
  return ((calls as unknown[]) ?? []).filter(isObject).map((call) => {
    const made = isObject(call.function) ? call.function : call;
    return { name: String(made.name), args: made.args ?? made.arguments };
  });
}

function toMessage(value: unknown): ShownMessage | undefined {
  if (!isObject(value)) return undefined;
  const message = unwrap(value);
  const role = message.role ?? message.type;
  if (typeof role !== 'string' || !('content' in message)) return undefined;
  const kind = role.replace(/messagechunk$|message$/i, '').toLowerCase();
  return {
    role: ROLES[kind] ?? kind,
    ...(typeof message.name === 'string' && { name: message.name }),
    text: textOf(message.content),
    toolCalls: callsOf(message),
  };
}

function all(values: unknown[]): ShownMessage[] {
  const messages = values.map(toMessage);
  return messages.every((message) => message !== undefined) ? messages : [];
}

/** The messages of a run's inputs or outputs, empty where they are no chat: `messages`, one `message`, or generations. */
export function messagesIn(value: unknown): ShownMessage[] {
  if (!isObject(value)) return Array.isArray(value) ? all(value) : [];
  const { messages, generations, output } = value;
  if (Array.isArray(messages)) return all(messages.flat());
  if (Array.isArray(generations)) {
    return all(generations.flat().map((each: unknown) => (isObject(each) ? each.message : undefined)));
  }
  const single = toMessage(output ?? value);
  return single ? [single] : [];
}
