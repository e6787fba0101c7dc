/** One entry of a conversation, whichever API it came by. */
export interface Turn {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
}

/** A request to a model, in any API. */
export interface Prompt {
  turns: Turn[];
  /** Names of the tools that the model may call. */
  tools: string[];
  /** JSON Schema of an answer that has to be an object, if it has to be one. */
  schema?: JsonSchema;
  /** Tool that the model has to call with such an object; without it, the object is the text of the answer. */
  forcedTool?: string;
}

export interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

export interface Call {
  name: string;
  /** JSON text. */
  args: string;
}

/** An answer of the model: text, or tool calls. */
export type Answer = { text: string } | { calls: Call[] };

/**
 * The model's answer to a conversation. The user's last message scripts it, by lines:
 * - `call <tool> {…}` calls a tool that is offered; several lines are parallel calls.
 * - `times <n>` repeats the calls after each result, n times in all.
 * - `fill {…}` gives values of an answer that has to follow a schema; the rest is made from the schema.
 *
 * After a tool's result it answers `The tool says: <result>`, and to anything else `You said: <message>`.
 */
export function answerTo({ turns, tools, schema, forcedTool }: Prompt): Answer {
  const asked = turns.findLastIndex(({ role }) => role === 'user');
  const text = turns[asked]?.text ?? '';
  if (schema) {
    const filled = JSON.stringify(filledFrom(schema, text));
    return forcedTool ? { calls: [{ name: forcedTool, args: filled }] } : { text: filled };
  }
  const last = turns.at(-1);
  const results = turns.slice(asked).filter(({ role }) => role === 'tool').length;
  const times = Number(/^times (\d+)$/m.exec(text)?.[1] ?? 1);
  if (last?.role === 'tool' && results >= times) return { text: `The tool says: ${last.text}` };
  const offered = new Set(tools);
  const calls = [...text.matchAll(/^call ([\w-]+) (\{.*\})$/gm)]
    .map(([, name, args]) => ({ name, args }))
    .filter(({ name }) => offered.has(name));
  return calls.length > 0 ? { calls } : { text: `You said: ${text}` };
}

/** Whether the user's last message has the line `hold`: its streamed answer stops after the first piece until it is released. */
export function isHeld({ turns }: Prompt): boolean {
  const asked = turns.findLast(({ role }) => role === 'user');
  return turns.at(-1)?.role === 'user' && /^hold$/m.test(asked?.text ?? '');
}

function filledFrom(schema: JsonSchema, text: string): unknown {
  const given = /^fill (\{.*\})$/m.exec(text)?.[1];
  const values = given ? (JSON.parse(given) as Record<string, unknown>) : {};
  const known = Object.entries(values).filter(([key]) => schema.properties?.[key]);
  return { ...(sample(schema, text) as object), ...Object.fromEntries(known) };
}

/** The smallest value that a schema allows, with the user's words wherever it takes a string. */
function sample(schema: JsonSchema, text: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return sample(schema.anyOf[0], text);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, value]) => [key, sample(value, text)]),
      );
    case 'array':
      return [sample(schema.items ?? {}, text)];
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return text;
  }
}
