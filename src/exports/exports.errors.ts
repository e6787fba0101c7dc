import { ApiError } from '../http/api-error';

const STORE_NAMES = { s3: 'S3', gcs: 'GCS', azure_blob: 'Azure Blob' };

export const exportErrors = {
  destinationNotFound: (id: string) =>
    new ApiError(404, 'destination_not_found', `Bulk export destination ${id} not found`),
  destinationInUse: (id: string) =>
    new ApiError(409, 'destination_in_use', `Bulk export destination ${id} is used by an export and can't be deleted`),
  /** Clients look for the beginning of this sentence. */
  destinationInvalid: (type: keyof typeof STORE_NAMES, reason: string) =>
    new ApiError(400, 'destination_invalid', `Failed to validate ${STORE_NAMES[type]} destination: ${reason}`),
  storeFailed: (reason: string) => new ApiError(400, 'store_failed', `The bucket could not be read: ${reason}`),
  exportNotFound: (id: string) => new ApiError(404, 'export_not_found', `Bulk export ${id} not found`),
  partitionNotFound: (id: string) => new ApiError(404, 'export_run_not_found', `Bulk export run ${id} not found`),
  fileNotFound: (id: string) =>
    new ApiError(404, 'export_file_not_found', `Bulk export run ${id} has not written such a file`),
  fileChanged: (path: string, problem: string) => new ApiError(409, 'export_file_changed', `${path} ${problem}`),
  fileTooLarge: (path: string, limit: number) =>
    new ApiError(409, 'export_file_too_large', `${path} is too large for a preview: the limit is ${limit} bytes`),
  exportIsOver: (id: string, status: string) =>
    new ApiError(409, 'export_is_over', `Bulk export ${id} is ${status} and can't be cancelled`),
  exportIsCompleting: (id: string) =>
    new ApiError(409, 'export_is_completing', `Bulk export ${id} is being completed and can't be cancelled any more`),
  exportNotComplete: (id: string, status: string) =>
    new ApiError(409, 'export_not_complete', `Bulk export ${id} is ${status}: only a Completed one can be verified`),
  exportNotRetryable: (id: string, status: string) =>
    new ApiError(
      409,
      'export_not_retryable',
      `Bulk export ${id} is ${status}: only one that is Failed or TimedOut can be retried`,
    ),
  exportStillEnding: (id: string) =>
    new ApiError(409, 'export_still_ending', `Bulk export ${id} is still ending: retry it in a few seconds`, {
      headers: { 'Retry-After': '5' },
    }),
  partitionNotRetryable: (id: string, status: string) =>
    new ApiError(409, 'export_run_not_retryable', `Bulk export run ${id} is ${status}: there is nothing to retry`),
};
