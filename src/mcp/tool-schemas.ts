import { MESSAGES, messageKeys, type ObjectSchema, propertiesOf, replaceMessages } from '../graphs/message-schemas';
import { isJsonObject } from '../database/json';

/** The field that makes a graph one that talks. */
const TALK = 'messages';
const USER_MESSAGE = { type: 'string', description: 'The message to the agent' };

/** Input schema of a tool: the graph's input, with its list of messages as one text. */
export function toInputSchema(graphInput: unknown): ObjectSchema {
  if (!isJsonObject(graphInput)) return { type: 'object' };
  const schema = replaceMessages(graphInput, USER_MESSAGE);
  if (!messageKeys(graphInput).includes(TALK)) return schema;
  // A graph that talks does nothing without a message, although its state begins with none.
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
  return { ...schema, required: [...new Set([...required, TALK])] };
}

/** The input of a graph that declares none: the names of its channels. */
export function undeclaredInput(fields: string[]): ObjectSchema {
  const names = fields.filter((name) => !name.startsWith('__'));
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) };
}

/** The arguments of a call as the graph's input: the text for a list of messages becomes the user's message. */
export function toGraphInput(args: Record<string, unknown>, graphInput: unknown): Record<string, unknown> {
  const messages = isJsonObject(graphInput) ? messageKeys(graphInput) : [];
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) =>
      messages.includes(key) && typeof value === 'string' ? [key, [{ role: 'user', content: value }]] : [key, value],
    ),
  );
}

/**
 * Output schema of a tool, if the graph declares its output. Keys are optional, since a graph may end without having written
 * one, and messages are objects; undefined when there is nothing to promise.
 */
export function toOutputSchema(graphOutput: unknown): ObjectSchema | undefined {
  if (!isJsonObject(graphOutput) || Object.keys(propertiesOf(graphOutput)).length === 0) return undefined;
  const schema = { ...graphOutput };
  delete schema.required;
  return replaceMessages(schema, MESSAGES);
}

/** The part of a state that the graph calls its output; all of it when the graph doesn't say. */
export function pickOutput(values: Record<string, unknown>, output: ObjectSchema | undefined): Record<string, unknown> {
  if (!output?.properties) return values;
  const declared = new Set(Object.keys(output.properties));
  return Object.fromEntries(Object.entries(values).filter(([key]) => declared.has(key)));
}
