/** Maximum of characters of a text about a thrown value. */
const MAX_TEXT = 100_000;
/** Errors of one chain that are looked at: it may be a circle, or have no end. */
const MAX_CAUSES = 100;

/** A value that user code threw, in texts that can be sent and stored. */
export interface ThrownText {
  name: string;
  message: string;
  /** Stack, which begins with the message; the message alone where there is no stack. */
  stack: string;
}

/**
 * Describes anything that can be thrown, and never throws: an error's fields may be of any type, or fail to be read, and an
 * object may have no text.
 */
export function describeThrown(thrown: unknown): ThrownText {
  if (!isError(thrown)) {
    const { name, message } = describeObject(thrown) ?? { name: 'Error', message: textOf(() => thrown) };
    return { name, message, stack: message };
  }
  const message = textOf(() => thrown.message);
  const name = read(() => thrown.name);
  const stack = read(() => thrown.stack);
  return {
    name: typeof name === 'string' ? name.slice(0, MAX_TEXT) : 'Error',
    message,
    stack: typeof stack === 'string' ? stack.slice(0, MAX_TEXT) : message,
  };
}

/** An object that is no error, and has no text of its own: an answer of a library, or the JSON of a response. */
function describeObject(thrown: unknown): Pick<ThrownText, 'name' | 'message'> | undefined {
  const object = Object(thrown) as Partial<Record<keyof ThrownText, unknown>>;
  const text = read(() => String(thrown));
  if (object !== thrown || (text !== undefined && !text.startsWith('[object '))) return undefined;
  const [name, message] = [read(() => object.name), read(() => object.message)];
  // LangGraph adds the id of the task to what a node throws.
  const json = read(() => JSON.stringify({ ...object, pregelTaskId: undefined }));
  const shown = typeof message === 'string' ? message : json;
  if (shown === undefined || shown === '{}') return undefined;
  return { name: typeof name === 'string' ? name.slice(0, MAX_TEXT) : 'Error', message: shown.slice(0, MAX_TEXT) };
}

/** Yields an error and its causes; nothing for a value that is no error. */
export function* causesOf(thrown: unknown): Generator<Error> {
  let cause = thrown;
  for (let left = MAX_CAUSES; left > 0 && isError(cause); left -= 1) {
    const error: Error = cause;
    yield error;
    cause = read(() => error.cause);
  }
}

function isError(value: unknown): value is Error {
  return read(() => value instanceof Error) === true;
}

function textOf(get: () => unknown): string {
  return read(() => String(get()))?.slice(0, MAX_TEXT) ?? 'The thrown value has no text';
}

/** The result of a function that user code may make throw; undefined if it does. */
function read<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
