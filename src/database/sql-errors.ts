import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { PostgresUnreachable } from './lost-connections';

/** Error of a statement as Postgres reports it. */
export interface PostgresError {
  /** SQLSTATE, of five characters. */
  code: string;
  detail: string;
  /** Empty where the error names none. */
  constraint: string;
}

/** The error of Postgres, if TypeORM or the driver reports a failed statement; undefined for other errors. */
export function postgresErrorOf(error: unknown): PostgresError | undefined {
  const reported: unknown =
    error instanceof QueryFailedError ? error.driverError : error instanceof PostgresUnreachable ? error.cause : error;
  if (!(error instanceof QueryFailedError || reported instanceof DatabaseError)) return undefined;
  const { code = '', detail = '', constraint = '' } = reported as Partial<PostgresError>;
  return { code, detail, constraint };
}

/** Whether a statement would have stored a second row where one is allowed. */
export function isUniqueViolation(error: unknown): boolean {
  return postgresErrorOf(error)?.code === '23505';
}

/** Whether a statement would have deleted a row that others refer to, or stored one that refers to none. */
export function isForeignKeyViolation(error: unknown): boolean {
  return postgresErrorOf(error)?.code === '23503';
}

/** Whether a statement has stored nothing since a row violates a constraint. */
export function isRefusedRow(error: unknown): boolean {
  return postgresErrorOf(error)?.code.startsWith('23') ?? false;
}

/** Whether a row belongs to no partition; Postgres reports that as a check violation that names no constraint. */
export function isMissingPartition(error: unknown): boolean {
  const reported = postgresErrorOf(error);
  return reported?.code === '23514' && reported.constraint === '';
}

/** Whether a statement waited for a lock for longer than its `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return postgresErrorOf(error)?.code === '55P03';
}

/** Whether Postgres has rolled back a transaction because of a concurrent one: repeated, it succeeds. */
export function isConflict(error: unknown): boolean {
  const code = postgresErrorOf(error)?.code;
  // A deadlock, and a row that was moved to another partition meanwhile.
  return code === '40P01' || code === '40001';
}

/** Whether a statement was cancelled: by its time limit, or because its client disconnected. */
export function isStatementCancelled(error: unknown): boolean {
  return postgresErrorOf(error)?.code === '57014';
}

/** Why a statement was not sent or not read, where that wasn't the database: TypeORM makes one error of both. */
export function causeOfQuery(error: unknown): unknown {
  return error instanceof QueryFailedError ? error.driverError : undefined;
}
