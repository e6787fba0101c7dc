import { setField } from './json-form';

type Fields = Record<string, unknown>;

/** A message of any copy of LangChain: a user's project may bring its own. */
export interface MessageLike {
  lc_kwargs: Fields;
  lc_attributes?: Fields;
  toDict(): unknown;
  getType?(): string;
  _getType(): string;
  constructor: { name: string };
}

interface SerializableLike {
  lc_id: string[];
}

// Parsed JSON has no functions, so data can't be mistaken for either.
export function isMessage(value: object): value is MessageLike {
  return 'toDict' in value && typeof value.toDict === 'function' && 'lc_kwargs' in value;
}

/** Models, prompts, tools and chains; messages and prompt values too. */
export function isSerializable(value: object): value is SerializableLike {
  return 'lc_serializable' in value && 'toJSON' in value && typeof value.toJSON === 'function' && 'lc_id' in value;
}

/** Input of a model: messages or text, without its settings. */
export function isPromptValue(value: object): boolean {
  return 'toChatMessages' in value && typeof value.toChatMessages === 'function';
}

/**
 * The form of a LangChain object that is neither a message nor a prompt value: its name. Its own JSON would carry its settings,
 * among them keys and headers of the services that it calls.
 */
export function nameOfSerializable({ lc_id }: SerializableLike): Fields {
  return { lc: 1, type: 'not_implemented', id: lc_id };
}

/** Members that every object has. */
const OBJECT_MEMBERS: object = {};

export function messageType(message: MessageLike): string {
  // eslint-disable-next-line no-restricted-syntax -- public, of releases before getType
  return message.getType?.() ?? message._getType();
}

/** The fields of a message that LangChain serializes, by their names in JSON. Its own `toJSON` also marks users' data. */
export function messageFields(message: MessageLike): Fields {
  const fields: Fields = {};
  const own: object = message;
  const { lc_kwargs: given, lc_attributes: attributes } = message;
  for (const key of Object.keys(given)) {
    const value = key in own && !(key in OBJECT_MEMBERS) ? (own as Fields)[key] : given[key];
    if (value !== undefined) setField(fields, jsonName(key), value);
  }
  return attributes ? Object.assign(fields, attributes) : fields;
}

/** Fields of messages whose names are the same in JSON. */
const KEPT_NAMES = new Set([
  'content',
  'id',
  'name',
  'role',
  'type',
  'additional_kwargs',
  'response_metadata',
  'tool_calls',
  'invalid_tool_calls',
  'tool_call_chunks',
  'usage_metadata',
  'tool_call_id',
  'status',
  'artifact',
  'metadata',
]);

/** The name of a field in LangChain's JSON form of its objects. */
function jsonName(key: string): string {
  if (KEPT_NAMES.has(key)) return key;
  return key
    .replace(/([A-Z]+)([A-Z][a-z0-9]+)/g, '$1_$2')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-_\s]+/g, '_')
    .toLowerCase();
}

/** The reverse of `jsonName`, as far as there is one. */
export function fieldName(key: string): string {
  if (KEPT_NAMES.has(key) || !/[-_\s]/.test(key)) return key;
  return key
    .replace(/[-_\s]+/g, '_')
    .toLowerCase()
    .replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
