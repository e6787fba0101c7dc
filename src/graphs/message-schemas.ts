import { isJsonObject } from '../database/json';

/** A list of messages, without what a message is: that would be most of a schema. */
export const MESSAGES = { type: 'array', items: { type: 'object' } };

/** A JSON Schema of an object. */
export interface ObjectSchema {
  type: 'object';
  properties?: Record<string, unknown>;
  [keyword: string]: unknown;
}

/**
 * Properties that hold LangChain messages: a list of one or of several message shapes, whether written down by zod or read
 * from TypeScript types, or `messages` without a shape.
 */
export function messageKeys(schema: Record<string, unknown>): string[] {
  return Object.entries(propertiesOf(schema))
    .filter(([key, property]) => (key === 'messages' && isShapeless(property)) || isMessageList(property))
    .map(([key]) => key);
}

/**
 * The schema with another one for each of its lists of messages. The definitions of messages are long, and of no use once
 * nothing refers to them: only those are kept that something needs.
 */
export function replaceMessages(schema: Record<string, unknown>, replacement: object): ObjectSchema {
  const replaced = Object.fromEntries(messageKeys(schema).map((key) => [key, replacement]));
  const object = { ...schema, type: 'object' as const, properties: { ...propertiesOf(schema), ...replaced } };
  return Object.keys(replaced).length > 0 ? withUsedDefinitions(object) : { ...schema, type: 'object' };
}

export function propertiesOf(schema: Record<string, unknown>): Record<string, unknown> {
  return isJsonObject(schema.properties) ? schema.properties : {};
}

function isShapeless(schema: unknown): boolean {
  return (
    isJsonObject(schema) && !['type', 'anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const'].some((word) => word in schema)
  );
}

function isMessageList(schema: unknown): boolean {
  if (!isJsonObject(schema) || schema.type !== 'array' || !isJsonObject(schema.items)) return false;
  if (schema.langgraph_type === 'messages') return true;
  const union: unknown = schema.items.anyOf ?? schema.items.oneOf ?? [schema.items];
  return Array.isArray(union) && union.length > 0 && union.every((item) => isMessage(item));
}

function isMessage(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  // A type's name is followed by its parameters: BaseMessage<MessageStructure<…>,MessageType>.
  if (typeof schema.$ref === 'string')
    return /^#\/(\$defs|definitions)\/\w*Message(Chunk)?(<.*)?$/.test(refOf(schema.$ref));
  const properties = propertiesOf(schema);
  return 'content' in properties && ('type' in properties || 'role' in properties);
}

const DEFINITIONS = ['$defs', 'definitions'] as const;

function withUsedDefinitions(schema: ObjectSchema): ObjectSchema {
  const { $defs, definitions, ...rest } = schema;
  const all = { $defs, definitions };
  const used = new Set<string>();
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) return part.forEach(visit);
    if (!isJsonObject(part)) return;
    for (const [keyword, value] of Object.entries(part)) {
      if (keyword !== '$ref' || typeof value !== 'string') visit(value);
      else if (!used.has(refOf(value))) {
        used.add(refOf(value));
        for (const place of DEFINITIONS) {
          const prefix = `#/${place}/`;
          const owner = all[place];
          if (refOf(value).startsWith(prefix) && isJsonObject(owner)) visit(owner[refOf(value).slice(prefix.length)]);
        }
      }
    }
  };
  visit(rest);
  for (const place of DEFINITIONS) {
    const owner = all[place];
    const kept = isJsonObject(owner) ? Object.entries(owner).filter(([name]) => used.has(`#/${place}/${name}`)) : [];
    if (kept.length > 0) Object.assign(rest, { [place]: Object.fromEntries(kept) });
  }
  return rest as ObjectSchema;
}

/** A reference as it reads once its escapes are undone. */
function refOf(ref: string): string {
  try {
    return decodeURIComponent(ref).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    // A per cent sign that is no escape.
    return ref;
  }
}
