import { EndpointRefused } from './endpoint-policy';

/** What went wrong with a store, in words for the person who configured it. */
export interface StoreProblem {
  code: string;
  message: string;
  /** Whether trying again can't help until somebody changes the destination. */
  isUserFault: boolean;
}

const ACCESS_DENIED = 'Access denied: the credentials may not write to this bucket (s3:PutObject is needed)';
const BUCKET_NOT_VALID = 'Bucket is not valid: it does not exist, or writing to it is not permitted';
const UNKNOWN_KEY = 'Key ID you provided does not exist: check access_key_id';
const INVALID_ENDPOINT = 'Invalid endpoint: only S3-compatible endpoints are accepted, and none for AWS';

/** Answers of stores by their error code. Stores that aren't AWS have spellings of their own. */
const BY_CODE: Record<string, string> = {
  AccessDenied: ACCESS_DENIED,
  AllAccessDisabled: ACCESS_DENIED,
  AccountProblem: ACCESS_DENIED,
  Forbidden: ACCESS_DENIED,
  NoSuchBucket: BUCKET_NOT_VALID,
  InvalidBucketName: `${BUCKET_NOT_VALID}. The name does not fit the addressing style; set config_kwargs_s3.addressing_style`,
  InvalidAccessKeyId: UNKNOWN_KEY,
  XAdminUserNotFound: UNKNOWN_KEY,
  SignatureDoesNotMatch:
    'Signature does not match: check secret_access_key, and that nothing between here and the store rewrites the host',
  InvalidToken: 'Session token is not valid',
  ExpiredToken: 'Session token has expired: give new temporary credentials',
  RequestTimeTooSkewed: "Clock skew: the store's clock and this machine's differ by more than 15 minutes",
  AuthorizationHeaderMalformed: 'Region is not valid: the bucket lives in another region',
  PermanentRedirect: 'Region is not valid: the bucket lives in another region',
  IllegalLocationConstraintException: 'Region is not valid: the bucket lives in another region',
  CredentialsProviderError: 'No credentials: none were given and none were found in the environment',
  InvalidRequest: 'The store refused the request',
  KMSKeyDisabled: 'The KMS key is disabled',
  'KMS.DisabledException': 'The KMS key is disabled',
  'KMS.NotFoundException': 'The KMS key does not exist',
};

/** The client's errors carry the system's code in their own text, whatever wraps them. */
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EPROTO)\b/;

/** Explains an error of the store's client. What isn't known is taken for a fault that may pass. */
export function explainStoreError(error: unknown): StoreProblem {
  const refused = causes(error).find((cause) => cause instanceof EndpointRefused);
  if (refused) {
    return { code: 'InvalidEndpoint', message: `Invalid endpoint: ${refused.message}`, isUserFault: true };
  }
  const { name, message, status } = describe(error);
  const known = BY_CODE[name];
  if (known) {
    const said = message && message !== name && name === 'InvalidRequest' ? `${known}: ${message}` : known;
    return { code: name, message: said, isUserFault: true };
  }
  const errno = causes(error)
    .map((cause) => UNREACHABLE.exec(cause.message)?.[1])
    .find((found) => found !== undefined);
  if (errno) {
    // A name that can't be resolved now may be resolved in a minute: at creation it is refused, in an export it's retried.
    return { code: errno, message: `${INVALID_ENDPOINT} (${errno})`, isUserFault: false };
  }
  if (status === 403) return { code: name, message: ACCESS_DENIED, isUserFault: true };
  // An answer that isn't S3's: the client fails to read it, or a web server has never heard of PUT.
  const isForeign =
    name === 'SyntaxError' || /deserialization|expected closing tag|not valid XML|char '/i.test(message);
  if (isForeign || status === 404 || status === 405 || status === 501 || (status !== undefined && status < 400)) {
    return {
      code: name,
      message: `${INVALID_ENDPOINT} (HTTP ${status ?? 'answer not understood'})`,
      isUserFault: true,
    };
  }
  const isClientFault = status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
  return {
    code: name,
    message: status ? `${name}: ${message} (HTTP ${status})` : `${name}: ${message}`,
    isUserFault: isClientFault,
  };
}

function describe(error: unknown): { name: string; message: string; status?: number } {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const extra = error as Error & { $metadata?: { httpStatusCode?: number }; Code?: unknown };
  return {
    name: typeof extra.Code === 'string' ? extra.Code : error.name,
    message: error.message,
    status: extra.$metadata?.httpStatusCode,
  };
}

/** The error, what caused it, and what several attempts failed with. */
function causes(error: unknown, depth = 0): Error[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const several = error instanceof AggregateError ? error.errors.flatMap((one) => causes(one, depth + 1)) : [];
  return [error, ...several, ...causes(error.cause, depth + 1)];
}
