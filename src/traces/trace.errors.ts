import { ApiError, invalidField } from '../http/api-error';

export const traceErrors = {
  invalid: (path: string, message: string) => invalidField(path, message),
  /** Refuses features of the hosted platform that this server doesn't have. Not with 501, since clients would retry. */
  unsupported: (path: string, reason: string) =>
    new ApiError(422, 'unsupported', `${path}: ${reason}`, { errors: [{ path, message: reason }] }),
  /** Refuses what Postgres can't hold, where no check of a field has found it. */
  unstorable: () =>
    new ApiError(422, 'unstorable', 'A value of the request is too long, too large or too deep to be stored'),
  tooLarge: (limitBytes: number) =>
    new ApiError(
      413,
      'trace_too_large',
      `The decoded body is larger than ${limitBytes} bytes (GANTRY_TRACE_LIMIT_BYTES)`,
    ),
  tooManyParts: (limit: number) =>
    new ApiError(413, 'too_many_parts', `The multipart body has more than ${limit} parts`),
  tooManyRuns: (limit: number) =>
    new ApiError(413, 'too_many_runs', `An upload may carry ${limit} starts and ends of runs: send them in several`),
  tooManyDays: (limit: number) =>
    invalidField(
      'start_time',
      `the runs of an upload may begin on ${limit} days that have no runs yet: send them in several`,
    ),
  runTooLarge: (runId: string, limit: number) =>
    new ApiError(
      413,
      'run_too_large',
      `Run ${runId} is larger than ${limit} characters: send large data as attachments`,
    ),
  needsTooMuchMemory: () =>
    new ApiError(413, 'upload_too_complex', 'Reading the upload needs more memory than there is: send it in parts'),
  unfoldsTooFar: (ratio: number) =>
    new ApiError(
      413,
      'decompression_ratio',
      `The body decompresses to more than ${ratio} times its size: send it with less compression, or in parts`,
    ),
  unsupportedEncoding: (encoding: string) =>
    new ApiError(415, 'unsupported_encoding', `Content-Encoding ${encoding} is not supported: send zstd, gzip or none`),
  undecodable: (encoding: string, reason?: string) =>
    new ApiError(
      400,
      'undecodable_body',
      `The body could not be decoded as ${encoding}${reason === undefined ? '' : `: ${reason}`}`,
    ),
  notMultipart: (reason: string) => new ApiError(422, 'invalid_multipart', `Invalid multipart body: ${reason}`),
  notOtlp: (reason: string) => new ApiError(400, 'invalid_otlp', `Invalid OTLP body: ${reason}`),
  projectNotFound: () => new ApiError(404, 'project_not_found', 'Project not found'),
  projectExists: (name: string) =>
    new ApiError(409, 'project_exists', `Project with name ${name} already exists: use upsert=true to update it`),
  runNotFound: () => new ApiError(404, 'run_not_found', 'Run not found'),
  threadNotFound: () => new ApiError(404, 'thread_not_found', 'Thread not found'),
  shareNotFound: () => new ApiError(404, 'share_not_found', 'This link is invalid or was revoked'),
  traceTooLong: (limit: number) =>
    new ApiError(
      413,
      'trace_too_long',
      `There are more than ${limit} runs: read them in parts (min_start_time, max_start_time), or in pages by /api/v2/runs/query`,
    ),
  tooManySharedRuns: (limit: number) =>
    new ApiError(413, 'too_many_shared_runs', `This link has more than ${limit} runs: read single runs by their ids`),
  sharedRunsTooLarge: (limitBytes: number) =>
    new ApiError(
      413,
      'shared_runs_too_large',
      `The runs of this link have more than ${limitBytes} bytes: select fewer fields, or read single runs by their ids`,
    ),
  sharingOff: () =>
    new ApiError(403, 'sharing_off', 'Traces are not shared by public links here (GANTRY_TRACE_SHARING)'),
  feedbackLinkInvalid: () => new ApiError(404, 'feedback_link_invalid', 'This feedback link is invalid or has expired'),
  feedbackNotFound: () => new ApiError(404, 'feedback_not_found', 'Feedback not found'),
  storeBusy: () =>
    new ApiError(503, 'trace_store_busy', 'No more traces can be accepted at the moment: try again', {
      headers: { 'Retry-After': '1' },
    }),
  attachmentStoreUnavailable: () =>
    new ApiError(503, 'attachment_store_unavailable', 'The object store of attachments does not answer: try again', {
      headers: { 'Retry-After': '1' },
    }),
  attachmentNotFound: () => new ApiError(404, 'attachment_not_found', 'Attachment not found'),
};
