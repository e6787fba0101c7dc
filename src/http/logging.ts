import type { LoggerService } from '@nestjs/common';
import pino, { type DestinationStream, type Logger } from 'pino';
import { serializeError } from './error-serializer';

/** Headers and fields that may hold a secret, wherever an object is logged. */
const REDACTED = [
  'headers["x-api-key"]',
  'headers.authorization',
  'headers.cookie',
  '*.headers["x-api-key"]',
  '*.headers.authorization',
  '*.headers.cookie',
  '*.secret_access_key',
  '*.session_token',
  '*.credentials',
];

/** Serialisers for all names under which errors are logged, without the fields that libraries add. */
const SERIALIZERS = { err: serializeError, error: serializeError, cause: serializeError, reason: serializeError };

/** Structured logs of a process: one JSON object a line, on standard output unless another place is given. */
export function createLogger(process: 'api' | 'worker', level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: REDACTED, censor: '[redacted]' },
    serializers: SERIALIZERS,
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Parts of Nest that log each module and route at start: hundreds of lines that bury Gantry's own. */
const WORDY_CONTEXTS: readonly (string | undefined)[] = ['InstanceLoader', 'RoutesResolver', 'RouterExplorer'];

/** Lets Nest and the services log through pino: `(message, context)` or `(object, message, context)`. */
export class NestLogger implements LoggerService {
  constructor(private readonly pino: Logger) {}

  log(...args: unknown[]): void {
    this.write('info', args);
  }
  error(...args: unknown[]): void {
    this.write('error', args);
  }
  warn(...args: unknown[]): void {
    this.write('warn', args);
  }
  debug(...args: unknown[]): void {
    this.write('debug', args);
  }
  verbose(...args: unknown[]): void {
    this.write('trace', args);
  }
  fatal(...args: unknown[]): void {
    this.write('fatal', args);
  }

  private write(level: pino.Level, args: unknown[]): void {
    const strings = args.filter((arg): arg is string => typeof arg === 'string');
    const fields = args.find((arg) => typeof arg === 'object' && arg !== null) ?? {};
    // Nest passes the logger's context last; what comes before it is the message.
    const context = strings.length > 1 ? strings.pop() : undefined;
    const written = level === 'info' && WORDY_CONTEXTS.includes(context) ? 'debug' : level;
    this.pino[written]({ ...(fields instanceof Error ? { err: fields } : fields), context }, strings.join(' '));
  }
}
