/** Postgres refused each new connection for too long, or a connection broke before a statement on it was answered. */
export class PostgresUnreachable extends Error {
  override readonly name = 'PostgresUnreachable';
}

/** SQLSTATEs with which a server ends or refuses a connection, since it stops, starts or has crashed. */
const ENDED_BY_SERVER = new Set(['57P01', '57P02', '57P03']);
/** Codes of sockets and of name resolution. Node's own errors, such as those of arguments, begin with ERR_. */
const SYSTEM_CODE = /^E(?!RR_)[A-Z_]+$/;
/** Errors for which the driver has no codes. */
const DRIVER_MESSAGE =
  /^(Connection terminated|Client (has encountered a connection error|was closed) and is not queryable)/;

/**
 * Whether an error of the driver is one of a connection rather than of a statement. The statement, if one was sent, may have been
 * executed. Must not be asked about errors of user code, which has network errors of its own.
 */
export function isLostConnection(error: unknown): boolean {
  if (error instanceof PostgresUnreachable) return true;
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if ('severity' in error) return ENDED_BY_SERVER.has(code);
  return SYSTEM_CODE.test(code) || DRIVER_MESSAGE.test(error.message);
}

/** An error of the driver as `PostgresUnreachable` if its connection was lost; other errors unchanged. */
export function nameLostConnection(error: unknown): unknown {
  if (error instanceof PostgresUnreachable || !isLostConnection(error)) return error;
  return new PostgresUnreachable((error as Error).message, { cause: error });
}
