import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { EncodingError } from './parquet/encoding-error';
import { storeProblemOf } from '../storage/store-error';

export interface FailureWords {
  /** Stable, for programs: the store's own code, or one of Gantry's. */
  code: string;
  /** Advice for the user. */
  hint: string;
}

/**
 * Why an export or a partition can't continue. `isFinal`: a retry can't help until something is changed. The
 * message is shown to the user, so it holds no secrets.
 */
export class ExportFailure extends Error {
  override readonly name = 'ExportFailure';
  readonly code: string;
  readonly hint: string;

  constructor(
    message: string,
    readonly isFinal: boolean,
    { code, hint }: FailureWords,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}

const AGAIN = 'It is retried automatically.';

/** End of the message of an export that fails although it may look complete in the bucket. */
export const HALF_PUBLISHED = '_SUCCESS may be in the bucket already';

/** Failures that don't come from the store. */
export const exportFailures = {
  over: (status: string) =>
    new ExportFailure(`The export is ${status}`, true, { code: 'ExportIsOver', hint: 'Create a new export.' }),
  incomplete: (count: number) =>
    new ExportFailure(`${count} partitions are not complete`, true, {
      code: 'PartitionsIncomplete',
      hint: 'Look at the runs of the export, and retry those that failed.',
    }),
  wrongFile: (file: string, problem: string) =>
    new ExportFailure(`${file} ${problem}; it is written again`, false, { code: 'FileNotAsWritten', hint: AGAIN }),
  lostFile: ({ objectKey, problem }: { objectKey: string; problem: string }) =>
    new ExportFailure(`${objectKey} ${problem}`, true, {
      code: 'FileNotAsWritten',
      hint: 'It was changed after the partition was complete. Restore the file or its permission and retry, or create a new export.',
    }),
  halfPublished: (failure: ExportFailure) =>
    new ExportFailure(
      `${failure.message}; ${HALF_PUBLISHED}`,
      failure.isFinal,
      { code: failure.code, hint: `${failure.hint} Retry the export if it fails.` },
      { cause: failure },
    ),
  outdated: (failure: ExportFailure) =>
    new ExportFailure(
      failure.message,
      false,
      { code: failure.code, hint: `The credentials have been replaced since. ${AGAIN}` },
      { cause: failure.cause },
    ),
  rowsGone: (counted: number, seen: number) =>
    new ExportFailure(`The source has ${counted} rows where ${seen} were counted before: rows are gone`, true, {
      code: 'SourceShrank',
      hint: 'Traces were deleted meanwhile (retention?). Create a new export of what is left.',
    }),
  rowsMoved: (rows: number, counted: number) =>
    new ExportFailure(`${rows} rows were written of ${counted}: rows moved meanwhile; they are written again`, false, {
      code: 'RowsMoved',
      hint: AGAIN,
    }),
  rowsLate: (rows: number) =>
    new ExportFailure(`${rows} rows became visible while the day was written; it is written again`, false, {
      code: 'RowsMoved',
      hint: AGAIN,
    }),
  notEncoded: (reason: string, cause: unknown) =>
    new ExportFailure(
      `A Parquet file could not be made: ${reason}`,
      false,
      {
        code: 'EncodingFailed',
        hint: `${AGAIN} If this persists, give the worker more memory, or make files smaller.`,
      },
      { cause },
    ),
  internal: (cause: unknown) =>
    new ExportFailure(
      'The export could not be continued',
      false,
      { code: 'InternalFailure', hint: `${AGAIN} If this persists, the worker's log has the cause.` },
      { cause },
    ),
  notRead: (reason: string, cause: unknown) =>
    new ExportFailure(
      `The database could not be read: ${reason}`,
      false,
      { code: 'DatabaseFailed', hint: `${AGAIN} If this persists, check the database.` },
      { cause },
    ),
};

/** Converts an error of the encoder, the database or the store into that of an export. Other errors may say what users may not see. */
export function toExportFailure(error: unknown): ExportFailure {
  if (error instanceof ExportFailure) return error;
  if (error instanceof EncodingError) return exportFailures.notEncoded(error.message, error);
  if (error instanceof QueryFailedError || error instanceof DatabaseError) {
    return exportFailures.notRead(error.message, error);
  }
  const problem = storeProblemOf(error);
  if (!problem) return exportFailures.internal(error);
  return new ExportFailure(problem.message, problem.isUserFault, problem, { cause: error });
}
