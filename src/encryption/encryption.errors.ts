import { ApiError } from '../http/api-error';

export const encryptionErrors = {
  failed: () =>
    new ApiError(
      500,
      'encryption_failed',
      'The custom encryption failed, and nothing was changed: the log of the server says why',
    ),
  late: () => new ApiError(500, 'encryption_failed', 'The custom encryption did not answer in time'),
  loading: () =>
    new ApiError(503, 'encryption_loading', 'The custom encryption is still being loaded', {
      headers: { 'Retry-After': '10' },
    }),
  refused: (why: string) => new ApiError(422, 'encryption_refused', why),
  malformedContext: () =>
    new ApiError(
      422,
      'encryption_context_malformed',
      'Invalid X-Encryption-Context header: expected base64-encoded JSON object',
    ),
};
