/** A JSON Schema of an object, as tools declare it. */
export interface ObjectSchema {
  type: 'object';
  properties?: Record<string, unknown>;
  [keyword: string]: unknown;
}

const MESSAGES = { type: 'array', items: { type: 'object' } };
const USER_MESSAGE = { type: 'string', description: 'The message to the agent' };

/** What a tool takes: the graph's input, with its list of messages as the one text that a model writes. */
export function toInputSchema(graphInput: unknown): ObjectSchema {
  if (!isObject(graphInput)) return { type: 'object' };
  const properties = propertiesOf(graphInput);
  const messages = messageKeys(properties);
  if (messages.length === 0) return { ...graphInput, type: 'object' };
  return withoutUnusedDefinitions({
    ...graphInput,
    type: 'object',
    properties: { ...properties, ...Object.fromEntries(messages.map((key) => [key, USER_MESSAGE])) },
  });
}

/** The arguments of a call as the graph's input: the text for a list of messages becomes the user's message. */
export function toGraphInput(args: Record<string, unknown>, graphInput: unknown): Record<string, unknown> {
  const messages = isObject(graphInput) ? messageKeys(propertiesOf(graphInput)) : [];
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) =>
      messages.includes(key) && typeof value === 'string' ? [key, [{ role: 'user', content: value }]] : [key, value],
    ),
  );
}

/**
 * What a tool returns, when the graph says what it gives. Keys are optional, since a graph may end without having written
 * one, and messages are objects; undefined when there is nothing to promise.
 */
export function toOutputSchema(graphOutput: unknown): ObjectSchema | undefined {
  if (!isObject(graphOutput)) return undefined;
  const properties = propertiesOf(graphOutput);
  if (Object.keys(properties).length === 0) return undefined;
  const messages = messageKeys(properties).map((key) => [key, MESSAGES] as const);
  const schema = { ...graphOutput, type: 'object' as const };
  delete (schema as Record<string, unknown>).required;
  return withoutUnusedDefinitions({ ...schema, properties: { ...properties, ...Object.fromEntries(messages) } });
}

/** The part of a state that the graph calls its output; all of it when the graph doesn't say. */
export function pickOutput(values: Record<string, unknown>, output: ObjectSchema | undefined): Record<string, unknown> {
  if (!output?.properties) return values;
  const declared = new Set(Object.keys(output.properties));
  return Object.fromEntries(Object.entries(values).filter(([key]) => declared.has(key)));
}

/** Properties that hold LangChain messages: a list of one of several message shapes, or `messages` without a shape. */
function messageKeys(properties: Record<string, unknown>): string[] {
  return Object.entries(properties)
    .filter(([key, schema]) => (key === 'messages' && isShapeless(schema)) || isMessageList(schema))
    .map(([key]) => key);
}

function isShapeless(schema: unknown): boolean {
  return (
    isObject(schema) && !['type', 'anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const'].some((word) => word in schema)
  );
}

function isMessageList(schema: unknown): boolean {
  if (!isObject(schema) || schema.type !== 'array' || !isObject(schema.items)) return false;
  if (schema.langgraph_type === 'messages') return true;
  const union: unknown = schema.items.anyOf ?? schema.items.oneOf ?? [schema.items];
  return Array.isArray(union) && union.length > 0 && union.every((item) => isMessage(item));
}

function isMessage(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if (typeof schema.$ref === 'string') return /Message(Chunk)?$/.test(schema.$ref);
  const properties = propertiesOf(schema);
  return 'content' in properties && ('type' in properties || 'role' in properties);
}

/** Message definitions are long, and of no use to a model once nothing refers to them. */
function withoutUnusedDefinitions(schema: ObjectSchema): ObjectSchema {
  const rest = { ...schema };
  delete rest.$defs;
  delete rest.definitions;
  return JSON.stringify(rest).includes('"$ref"') ? schema : rest;
}

function propertiesOf(schema: Record<string, unknown>): Record<string, unknown> {
  return isObject(schema.properties) ? schema.properties : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
