import { DatabaseError } from 'pg';

/**
 * Postgres refused each new connection for too long, a connection broke before a statement on it was answered, or the server
 * could not serve the statement at the time. The statement itself is right: it may succeed later.
 */
export class PostgresUnreachable extends Error {
  override readonly name = 'PostgresUnreachable';
}

/** SQLSTATE of a write to a server that takes none: it was demoted in a failover, or its disk is full. */
export const READ_ONLY_SERVER = '25006';
/**
 * SQLSTATEs with which a server ends or refuses a connection: it stops, starts or has crashed, or a client was silent in a transaction.
 * A connection to a read-only server is ended by this process.
 */
const ENDED_BY_SERVER = new Set(['57P01', '57P02', '57P03', '25P03', READ_ONLY_SERVER]);
/** SQLSTATEs of connections (08), exhausted resources (53) and the intervention of an operator (57). */
const UNABLE_TO_SERVE = /^(08|53|57)...$/;
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

/**
 * An error of the driver as `PostgresUnreachable` if its connection was lost or the server was unable to serve; other errors
 * unchanged. The name distinguishes errors of Gantry's own connections from those of connections of user code.
 */
export function nameLostConnection(error: unknown): unknown {
  if (error instanceof PostgresUnreachable || !(isLostConnection(error) || isUnableToServe(error))) return error;
  return new PostgresUnreachable((error as Error).message, { cause: error });
}

function isUnableToServe(error: unknown): boolean {
  return error instanceof DatabaseError && UNABLE_TO_SERVE.test(error.code ?? '');
}
