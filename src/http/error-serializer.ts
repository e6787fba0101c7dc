/** Fields of an error in the log. Fields that libraries add (parameters, rows, requests, headers) may contain secrets. */
export interface LoggedError {
  name: string;
  code?: string;
  message: string;
  stack: string;
  cause?: LoggedError;
  errors?: LoggedError[];
}

/** Maximum depth of causes, since a chain may be circular. */
const MAX_DEPTH = 4;
const MAX_ERRORS = 10;

/** Postgres repeats what it can't read (class 22, data exceptions): `invalid input syntax for type uuid: "…"`. */
const REPEATED_VALUE = /: ".*$/s;

/** Serialises errors for the log; other values are left as they are. */
export function serializeError(value: unknown): unknown {
  return value instanceof Error ? describe(value, 0) : value;
}

function describe(error: Error, depth: number): LoggedError {
  const code = codeOf(error);
  const message = code?.startsWith('22') ? error.message.replace(REPEATED_VALUE, '') : error.message;
  const described: LoggedError = {
    name: error.name,
    ...(code !== undefined && { code }),
    message,
    stack: stackOf(error, message),
  };
  if (depth === MAX_DEPTH) return described;
  if (error.cause instanceof Error) described.cause = describe(error.cause, depth + 1);
  if (error instanceof AggregateError) {
    const errors = error.errors.filter((each) => each instanceof Error).slice(0, MAX_ERRORS);
    described.errors = errors.map((each) => describe(each, depth + 1));
  }
  return described;
}

/** The error's own, or that of the driver whose error a library wraps. */
function codeOf(error: Error): string | undefined {
  const { code, driverError } = error as { code?: unknown; driverError?: { code?: unknown } };
  const found = code ?? driverError?.code;
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined;
}

/** The first lines of the stack repeat the original message. */
function stackOf({ name, stack = '' }: Error, message: string): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return [`${name}: ${message}`, ...frames].join('\n');
}
