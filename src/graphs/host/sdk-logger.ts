import { inspect } from 'node:util';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
import type { UserLogLine, WrittenLevel } from './user-log';
import { userCodeScope } from './user-code-scope';

/** Symbol under which `getLogger()` of @langchain/langgraph-sdk/logging looks for the server's logger. */
const SDK_LOGGER = Symbol.for('langgraph.api.sdk-logger');

/** The levels of the SDK's logger, and the corresponding ones of a process's log. */
const LEVELS = {
  error: 'error',
  warn: 'warn',
  help: 'log',
  data: 'log',
  info: 'log',
  prompt: 'log',
  input: 'log',
  http: 'log',
  debug: 'debug',
  verbose: 'debug',
  silly: 'verbose',
} as const satisfies Record<string, WrittenLevel>;

type Level = keyof typeof LEVELS;

/** Characters of a line's text, and of its fields as JSON: a state that is logged by mistake must not fill the log. */
const MAX_CHARACTERS = 256 * 1024;

/**
 * Provides the logger for `getLogger()` of any copy of the SDK in the project. To be called before user code is loaded: modules
 * ask for the logger at their top.
 */
export function registerSdkLogger(send: (line: UserLogLine) => void): void {
  (globalThis as Record<symbol, unknown>)[SDK_LOGGER] = loggerWith({}, send);
}

interface SdkLogger extends Record<Level, (...args: unknown[]) => SdkLogger> {
  log(level: string, ...args: unknown[]): SdkLogger;
  child(fields: object): SdkLogger;
}

function loggerWith(own: Record<string, unknown>, send: (line: UserLogLine) => void): SdkLogger {
  const write = (level: string, args: unknown[]): SdkLogger => {
    const { message, fields } = lineOf(args);
    const known = level in LEVELS ? LEVELS[level as Level] : 'log';
    // Fields that the server sets can't be overridden by a line.
    send({ type: 'log', level: known, message, fields: { ...own, ...fields, ...whereabouts() } });
    return logger;
  };
  const levels = Object.keys(LEVELS).map((level) => [level, (...args: unknown[]) => write(level, args)]);
  const logger = {
    ...(Object.fromEntries(levels) as Record<Level, (...args: unknown[]) => SdkLogger>),
    log: (level: string, ...args: unknown[]) => write(level, args),
    child: (fields: object) => loggerWith({ ...own, ...(plain(fields) as object) }, send),
  };
  return logger;
}

/** `("text", {fields}, error)` in any order: objects are fields, everything else is text. */
function lineOf(args: unknown[]): { message: string; fields: Record<string, unknown> } {
  const texts: string[] = [];
  const fields: Record<string, unknown> = {};
  for (const arg of args) {
    if (arg instanceof Error) fields.err = plain(arg);
    else if (typeof arg === 'object' && arg !== null && !Array.isArray(arg)) Object.assign(fields, plain(arg));
    else texts.push(typeof arg === 'string' ? arg : inspect(arg));
  }
  if (texts.length === 0 && fields.err) texts.push((fields.err as Error).message);
  if (texts.length === 0 && typeof fields.message === 'string') {
    texts.push(fields.message);
    delete fields.message;
  }
  return { message: texts.join(' ').slice(0, MAX_CHARACTERS), fields };
}

function whereabouts(): Record<string, unknown> {
  const config = AsyncLocalStorageProviderSingleton.getRunnableConfig() as
    { metadata?: { langgraph_node?: unknown } } | undefined;
  const node = config?.metadata?.langgraph_node;
  return { ...userCodeScope.getStore()?.fields, ...(typeof node === 'string' && { langgraph_node: node }) };
}

/** A line is sent to another process: values that JSON can't represent become text. */
function plain(value: object): unknown {
  try {
    const text = JSON.stringify(value instanceof Error ? describe(value) : value, (_key, inner: unknown) => {
      if (inner instanceof Error) return describe(inner);
      return typeof inner === 'bigint' ? inner.toString() : inner;
    });
    return text.length > MAX_CHARACTERS ? { value: text.slice(0, MAX_CHARACTERS) } : JSON.parse(text);
  } catch {
    return { value: inspect(value, { depth: 2 }) };
  }
}

function describe({ name, message, stack }: Error): object {
  return { type: name, message, stack };
}
