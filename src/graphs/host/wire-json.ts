interface MessageLike {
  toDict(): { type: string; data: Record<string, unknown> };
  getType?(): string;
  constructor: { name: string };
}

function isMessage(value: unknown): value is MessageLike {
  return typeof value === 'object' && value !== null && 'toDict' in value && typeof value.toDict === 'function';
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
  const path: unknown[] = [];
  const json = JSON.stringify(value, function (this: Record<string, unknown>, key, converted: unknown) {
    const raw = this[key];
    if (isMessage(raw)) {
      const { type, data } = raw.toDict();
      return { ...data, type: chunkTypes ? typeOf(raw, type) : type };
    }
    if (raw instanceof Error) return { error: raw.name, message: raw.message };
    if (typeof converted === 'bigint') return converted.toString();
    if (raw instanceof Map) return Object.fromEntries(raw as Map<string, unknown>);
    if (raw instanceof Set) return [...(raw as Set<unknown>)];
    if (typeof converted === 'object' && converted !== null) {
      // `this` is the holder of the key: what is above it on the path is still open, the rest is done.
      while (path.length > 0 && path.at(-1) !== this) path.pop();
      if (path.includes(converted)) return '[Circular]';
      path.push(converted);
    }
    return converted;
  });
  return json ?? 'null';
}
