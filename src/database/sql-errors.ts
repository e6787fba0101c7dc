import { QueryFailedError } from 'typeorm';

/** What Postgres says of a statement that failed. */
export interface PostgresError {
  /** SQLSTATE, of five characters. */
  code: string;
  detail: string;
  /** Empty where the error names none. */
  constraint: string;
}

/** What Postgres said, where TypeORM reports a statement that failed; undefined for other errors. */
export function postgresErrorOf(error: unknown): PostgresError | undefined {
  if (!(error instanceof QueryFailedError)) return undefined;
  const { code = '', detail = '', constraint = '' } = error.driverError as Partial<PostgresError>;
  return { code, detail, constraint };
}
