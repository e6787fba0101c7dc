import { postgresErrorOf } from './sql-errors';

/** SQLSTATEs of a server that takes no connection for now: all are in use, or it starts or stops. Others need a person. */
const TEMPORARY = new Set(['53300', '57P01', '57P03']);

const refused = new WeakSet<Error>();

/** Remembers that a connection could not be had, by the error itself: those that handle it still see its code and message. */
export function rememberRefusal(error: Error): void {
  const reported = postgresErrorOf(error);
  if (!reported || TEMPORARY.has(reported.code)) refused.add(error);
}

/** Whether the database accepted no connection, or not in time. The same request can succeed later. */
export function isRefusedConnection(error: unknown): boolean {
  return error instanceof Error && refused.has(error);
}
