interface MessageLike {
  toDict(): { type: string; data: Record<string, unknown> };
  getType?(): string;
  constructor: { name: string };
}

function isMessage(value: object): value is MessageLike {
  return 'toDict' in value && typeof value.toDict === 'function';
}

function hasOwnJson(value: object): value is { toJSON(key: string): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

/** Streamed pieces of a message are told apart from whole ones by their type: `AIMessageChunk` beside `ai`. */
function typeOf(message: MessageLike, type: string): string {
  const { name } = message.constructor;
  return name.endsWith('MessageChunk') ? name : type;
}

/**
 * JSON as LangGraph clients read it: messages are flat objects with a `type`, not LangChain's serialised constructors.
 * What JSON can't hold (functions, symbols, cycles) is left out or named, never an exception: an odd value in a state must
 * not end a run.
 */
export function toWireJson(value: unknown, chunkTypes = false): string {
  return JSON.stringify(new WireForm(chunkTypes).of('', value)) ?? 'null';
}

/** Makes of a value what `JSON.stringify` writes as wanted. A replacer would be called for each key, and behind `toJSON`. */
class WireForm {
  /** What is around the value at hand. */
  private readonly path: object[] = [];

  constructor(private readonly chunkTypes: boolean) {}

  of(key: string, value: unknown): unknown {
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null) return value;
    if (this.path.includes(value)) return '[Circular]';
    this.path.push(value);
    const form = this.inside(key, value);
    this.path.pop();
    return form;
  }

  private inside(key: string, value: object): unknown {
    if (isMessage(value)) {
      const { type, data } = value.toDict();
      return this.fields({ ...data, type: this.chunkTypes ? typeOf(value, type) : type });
    }
    if (value instanceof Error) return { error: value.name, message: value.message };
    if (value instanceof Map) return this.fields(Object.fromEntries(value as Map<string, unknown>));
    if (value instanceof Set) return this.items([...(value as Set<unknown>)]);
    if (hasOwnJson(value)) {
      const json = value.toJSON(key);
      // One that names itself is taken for what it holds.
      return json === value ? this.fields({ ...value, toJSON: undefined }) : this.of(key, json);
    }
    return Array.isArray(value) ? this.items(value) : this.fields(value as Record<string, unknown>);
  }

  /** The same array when each item stays what it is: most of a state is plain, and isn't copied. */
  private items(items: unknown[]): unknown[] {
    let forms: unknown[] | undefined;
    for (let index = 0; index < items.length; index += 1) {
      const form = this.of(String(index), items[index]);
      if (form !== items[index]) (forms ??= [...items])[index] = form;
    }
    return forms ?? items;
  }

  private fields(fields: Record<string, unknown>): Record<string, unknown> {
    let forms: Record<string, unknown> | undefined;
    for (const key of Object.keys(fields)) {
      const form = this.of(key, fields[key]);
      if (form === fields[key]) continue;
      forms ??= { ...fields };
      // By definition and not by assignment, which a key `__proto__` would take for something else.
      Object.defineProperty(forms, key, { value: form, enumerable: true });
    }
    return forms ?? fields;
  }
}
