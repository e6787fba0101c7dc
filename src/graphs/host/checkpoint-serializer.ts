import { OtherLanguage } from './other-language';
import { DeltaSnapshot, type SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { isPlain, JsonForm, setField } from './json-form';
import {
  fieldName,
  isMessage,
  isPromptValue,
  isSerializable,
  messageFields,
  nameOfSerializable,
} from './langchain-values';
import { OWN_CLASSES, type StoredClasses, storedClassesOf, storedName } from './stored-classes';

/** Type name of values stored by LangGraph's Python library. */
const PYTHON_TYPE = 'msgpack';

type Fields = Record<string, unknown>;

/** LangChain's mark for users' data inside a message that would otherwise be read as one of its objects. */
const ESCAPED_BY_LANGCHAIN = '__lc_escaped__';

const UNDEFINED = { lc: 2, type: 'undefined' };

/**
 * Encodes the values of checkpoints. The format is that of LangGraph's JsonPlusSerializer, with two differences:
 *
 * - Stored data only becomes an instance of a class that is in a closed list: messages, documents, and LangGraph's own types. The library's serializer loads any class of LangChain that a stored object names, with its arguments, although a run's input is stored too.
 * - Data with a key `lc` is marked as data when it is written, and returned unchanged. Data of earlier releases has no such marks: there, an object that names a message becomes one.
 *
 * Either release reads what the other one writes.
 */
export class CheckpointSerializer implements SerializerProtocol {
  /** @param graphFile the module of the graph whose states are read; its project may have its own copy of LangChain */
  constructor(private readonly graphFile?: string) {}

  async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
    if (value instanceof Uint8Array) return ['bytes', value];
    return ['json', Buffer.from(JSON.stringify(new StoredForm().of('', value)) ?? 'null')];
  }

  async loadsTyped(type: string, data: Uint8Array | string): Promise<unknown> {
    if (type === 'bytes') return typeof data === 'string' ? Buffer.from(data) : data;
    if (type === PYTHON_TYPE) throw new OtherLanguage();
    if (type !== 'json') throw new Error(`Unknown serialization type: ${type}`);
    const text = typeof data === 'string' ? data : textOf(data);
    const value: unknown = JSON.parse(text);
    // Written by JSON.stringify, here and by the library: without spaces.
    if (!text.includes('"lc":')) return value;
    return new Reviver(this.graphFile ? await storedClassesOf(this.graphFile) : OWN_CLASSES).revive(value);
  }
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString();
}

class StoredForm extends JsonForm {
  constructor() {
    super(UNDEFINED);
  }

  protected override ofInstance(value: object): unknown {
    if (isMessage(value)) {
      const name = storedName(value);
      if (name === undefined) return this.fields(messageFields(value));
      const kwargs = this.fields(messageFields(value));
      return { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', name], kwargs };
    }
    if (value instanceof Set) return builtIn('Set', this.items([...(value as Set<unknown>)]));
    if (value instanceof Map) return builtIn('Map', this.items([...(value as Map<unknown, unknown>)]));
    if (value instanceof RegExp) return builtIn('RegExp', value.source, value.flags);
    if (value instanceof Error) return builtIn('Error', value.message);
    if (value instanceof Uint8Array && !Buffer.isBuffer(value)) {
      return { ...builtIn('Uint8Array', Array.from(value)), method: 'from' };
    }
    if ('lg_name' in value) return this.ofLangGraph(value as Fields);
    if (isDocument(value)) {
      const { pageContent, ...rest } = value;
      const kwargs = this.fields({ page_content: pageContent, ...rest });
      return { lc: 1, type: 'constructor', id: ['langchain_core', 'documents', 'Document'], kwargs };
    }
    return isSerializable(value) && !isPromptValue(value) ? this.fields(nameOfSerializable(value)) : undefined;
  }

  private ofLangGraph({ lg_name: name, node, args, timeout, value }: Fields): unknown {
    if (name === 'DeltaSnapshot') return { lc: 2, type: 'delta_snapshot', value: this.of('value', value) };
    // The library recognises them by these two.
    if (name === 'Send') return this.fields({ node, args, ...(timeout !== undefined && { timeout }) });
    return undefined;
  }

  protected override fields(fields: Fields): Fields {
    const forms = super.fields(fields);
    // As pairs, so that an earlier release doesn't take the object for one of its own.
    return readsAsRecord(forms) ? { lc: 2, type: 'plain', entries: Object.entries(forms) } : forms;
  }
}

function builtIn(name: string, ...args: unknown[]): Fields {
  return { lc: 2, type: 'constructor', id: [name], method: null, args, kwargs: {} };
}

interface DocumentLike {
  pageContent: string;
}

const DOCUMENT_FIELDS = ['pageContent', 'metadata', 'id'];

/** Only documents themselves: a subclass with further fields would lose them. */
function isDocument(value: object): value is DocumentLike {
  if (!('pageContent' in value) || typeof value.pageContent !== 'string' || !('metadata' in value)) return false;
  return Object.keys(value).every((key) => DOCUMENT_FIELDS.includes(key));
}

function readsAsRecord(fields: Fields): boolean {
  return Object.hasOwn(fields, 'lc') || isEscapedByLangChain(fields);
}

function isEscapedByLangChain(fields: Fields): boolean {
  return Object.hasOwn(fields, ESCAPED_BY_LANGCHAIN) && Object.keys(fields).length === 1;
}

/** Replaces records of parsed JSON by instances. */
class Reviver {
  constructor(private readonly classes: StoredClasses) {}

  /** @param inMessage whether the value stands in a message, where LangChain has marks of its own */
  revive(value: unknown, inMessage = false): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) {
        value[index] = this.revive(value[index], inMessage);
      }
      return value;
    }
    const fields = value as Fields;
    if (fields.lc === 1 && fields.type === 'constructor') return this.langChainObject(fields);
    if (fields.lc === 2) return this.record(fields, inMessage);
    if (inMessage && isEscapedByLangChain(fields)) return fields[ESCAPED_BY_LANGCHAIN];
    return this.reviveFields(fields, inMessage);
  }

  private reviveFields(fields: Fields, inMessage: boolean): Fields {
    for (const key of Object.keys(fields)) {
      const value = fields[key];
      if (typeof value === 'object' && value !== null) setField(fields, key, this.revive(value, inMessage));
    }
    return fields;
  }

  private langChainObject(record: Fields): unknown {
    const { id, kwargs } = record;
    const Class = Array.isArray(id) && isLangChains(id) ? this.classes.get(String(id.at(-1))) : undefined;
    if (!Class || !isFields(kwargs)) return record;
    const given = this.revive(kwargs, true);
    if (!isFields(given)) return record;
    const fields: Fields = {};
    for (const key of Object.keys(given)) setField(fields, fieldName(key), given[key]);
    try {
      return new Class(fields);
    } catch {
      // Not written by LangChain, which accepts its own records.
      return record;
    }
  }

  private record(record: Fields, inMessage: boolean): unknown {
    switch (record.type) {
      case 'undefined':
        return undefined;
      case 'delta_snapshot':
        return Object.hasOwn(record, 'value') ? new DeltaSnapshot(this.revive(record.value, inMessage)) : record;
      case 'plain':
        return isPairs(record.entries) ? this.reviveFields(fromPairs(record.entries), inMessage) : record;
      case 'constructor':
        return this.builtIn(record, inMessage) ?? record;
      default:
        return this.reviveFields(record, inMessage);
    }
  }

  private builtIn({ id, args }: Fields, inMessage: boolean): unknown {
    if (!Array.isArray(id) || id.length !== 1 || !Array.isArray(args)) return undefined;
    const [first, second] = args as unknown[];
    switch (id[0]) {
      case 'Set':
        return Array.isArray(first) ? new Set(this.revive(first, inMessage) as unknown[]) : undefined;
      case 'Map':
        return isPairs(first, false) ? new Map(this.revive(first, inMessage) as [unknown, unknown][]) : undefined;
      case 'RegExp':
        return regExp(first, second);
      case 'Error':
        return typeof first === 'string' ? new Error(first) : undefined;
      case 'Uint8Array':
        return isBytes(first) ? Uint8Array.from(first) : undefined;
      default:
        return undefined;
    }
  }
}

function isLangChains([library]: unknown[]): boolean {
  return library === 'langchain_core' || library === 'langchain';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && isPlain(value);
}

function isPairs(value: unknown, named = true): value is [string, unknown][] {
  const isPair = (pair: unknown): boolean =>
    Array.isArray(pair) && pair.length === 2 && (!named || typeof pair[0] === 'string');
  return Array.isArray(value) && value.every(isPair);
}

function fromPairs(pairs: [string, unknown][]): Fields {
  const fields: Fields = {};
  for (const [key, value] of pairs) setField(fields, key, value);
  return fields;
}

function regExp(source: unknown, flags: unknown): RegExp | undefined {
  if (typeof source !== 'string' || typeof flags !== 'string') return undefined;
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

function isBytes(value: unknown): value is number[] {
  const isByte = (item: unknown): boolean => Number.isInteger(item) && Number(item) >= 0 && Number(item) <= 255;
  return Array.isArray(value) && value.every(isByte);
}
