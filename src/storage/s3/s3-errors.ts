import { PASSING_STATUSES } from '../http-transport';
import { explainAnswer, explainRefusal, explainUnreachable, RETRIED, StoreProblem, Words } from '../store-error';

const ACCESS_DENIED: Words = [
  'Access denied: the credentials may not write to this bucket',
  'Grant s3:PutObject on the prefix; look also for a bucket policy, a KMS key policy or an ACL that forbids it.',
];
const BUCKET_NOT_VALID: Words = [
  'Bucket is not valid: it does not exist, or writing to it is not permitted',
  'Check bucket_name, region and endpoint_url.',
];
const UNKNOWN_KEY: Words = [
  'Key ID you provided does not exist',
  'Check access_key_id, and that it belongs to the store at endpoint_url.',
];
const OTHER_REGION: Words = [
  'Region is not valid: the bucket lives in another region',
  "Set region to the bucket's own.",
];
const INVALID_ENDPOINT: Words = [
  'Invalid endpoint: only S3-compatible endpoints are accepted, and none for AWS',
  'Check endpoint_url: scheme, host and port of the S3 API as this machine reaches it (not of a web console).',
];
const SIGNATURE: Words = [
  'Signature does not match: the store computes another signature than this request has',
  'Check secret_access_key. If it is right, something in between changes what was signed: endpoint_url must be ' +
    'the address under which the store knows itself (external_endpoint_url is for the one that people use), and a proxy ' +
    'must keep the Host header and the path as they are.',
];
const KMS_HINT = 'Check s3_additional_kwargs.SSEKMSKeyId, and that the credentials may use the key.';

/** Answers of stores by their error code. Stores that aren't AWS have spellings of their own. */
const BY_CODE: Record<string, Words> = {
  AccessDenied: ACCESS_DENIED,
  AllAccessDisabled: ACCESS_DENIED,
  AccountProblem: ACCESS_DENIED,
  Forbidden: ACCESS_DENIED,
  NoSuchBucket: BUCKET_NOT_VALID,
  InvalidBucketName: [
    'Bucket is not valid: its name does not fit the addressing style',
    'Set config_kwargs_s3.addressing_style to path (or virtual).',
  ],
  InvalidAccessKeyId: UNKNOWN_KEY,
  XAdminUserNotFound: UNKNOWN_KEY,
  SignatureDoesNotMatch: SIGNATURE,
  InvalidToken: ['Session token is not valid', 'Give access_key_id, secret_access_key and session_token of one grant.'],
  ExpiredToken: ['Session token has expired', 'Give new temporary credentials: PATCH the destination.'],
  AuthorizationHeaderMalformed: OTHER_REGION,
  PermanentRedirect: OTHER_REGION,
  IllegalLocationConstraintException: OTHER_REGION,
  CredentialsRequired: [
    'No credentials: this bucket is not one that the server writes to with its own',
    'Give credentials. The operator lists buckets that need none (GANTRY_EXPORT_AMBIENT_BUCKETS), without an endpoint_url.',
  ],
  RoleNotAllowed: [
    'The role is not one that the server assumes',
    'The operator lists roles (GANTRY_EXPORT_AMBIENT_ROLES). A destination with aws_role_arn has no endpoint_url.',
  ],
  RoleRefused: [
    'The role could not be assumed',
    "Its trust policy must let the server's identity in; an sts:ExternalId there must be the tenant's id.",
  ],
  RoleUnavailable: [
    'The role could not be assumed now',
    "The token service limits or refuses the server's own requests. If this persists, the operator checks its identity.",
  ],
  CredentialsProviderError: [
    'No credentials: none were given and none were found in the environment',
    'Give credentials, or let the api and worker processes find some (environment, profile, instance role).',
  ],
  InvalidRequest: ['The store refused the request', 'See what it says, and check s3_additional_kwargs.'],
  InvalidArgument: ['The store refused a value', 'See what it says, and check s3_additional_kwargs.'],
  NotImplemented: [
    'The store does not support something in the request',
    'Remove from s3_additional_kwargs what it does not support.',
  ],
  KMSKeyDisabled: ['The KMS key is disabled', KMS_HINT],
  'KMS.DisabledException': ['The KMS key is disabled', KMS_HINT],
  'KMS.NotFoundException': ['The KMS key does not exist', KMS_HINT],
};

/** Codes of the server's own identity, which may be there again in a moment. */
const OF_SERVER = new Set(['CredentialsProviderError', 'RoleUnavailable']);

/** Codes whose meaning is in the store's own message. */
const WITH_MESSAGE = new Set(['InvalidRequest', 'InvalidArgument', 'NotImplemented']);

/** Codes of passing failures: a multipart upload that ended meanwhile; the next attempt begins another. */
const PASSING = new Set(['NoSuchUpload']);

/** Explains an error of the S3 client. What isn't known is taken for a fault that may pass. */
export function explainS3Error(error: unknown): StoreProblem {
  const refusal = explainRefusal(error);
  if (refusal) return refusal;
  const { name, message, status } = describe(error);
  if (name === 'RequestTimeTooSkewed') return clockSkew(error);
  const known = Object.hasOwn(BY_CODE, name) ? BY_CODE[name] : undefined;
  if (known) {
    const said = WITH_MESSAGE.has(name) && message && message !== name ? `${known[0]}: ${message}` : known[0];
    return { code: name, message: said, hint: known[1], isUserFault: !OF_SERVER.has(name) };
  }
  const unreachable = explainUnreachable(error, INVALID_ENDPOINT);
  if (unreachable) return unreachable;
  if (status === 403) return { code: name, message: ACCESS_DENIED[0], hint: ACCESS_DENIED[1], isUserFault: true };
  if (PASSING.has(name)) {
    return { code: name, message: `The store answered ${status}: ${message}`, hint: RETRIED, isUserFault: false };
  }
  // An answer that isn't S3's: the client fails to read it, or a web server has never heard of PUT.
  const isForeign =
    ['SyntaxError', 'AnswerTooLarge'].includes(name) ||
    /deserialization|expected closing tag|not valid XML|char '/i.test(message);
  // A proxy in front of a store answers with its own page while the store is away.
  if (isForeign && status !== undefined && PASSING_STATUSES.has(status)) {
    return explainAnswer(`HTTP ${status}`, 'not an answer of S3, but perhaps of a proxy', status);
  }
  const isOdd = status === 404 || status === 405 || status === 501 || (status !== undefined && status < 400);
  if (isForeign || isOdd) {
    const code = status === undefined ? 'answer not understood' : `HTTP ${status}`;
    return { code, message: INVALID_ENDPOINT[0], hint: INVALID_ENDPOINT[1], isUserFault: true };
  }
  return explainAnswer(name, message, status);
}

/** How far the clocks are apart, where the store's answer carries its own time. */
function clockSkew(error: unknown): StoreProblem {
  const { $response: response } = error as { $response?: { headers?: Record<string, string> } };
  const theirs = Date.parse(response?.headers?.date ?? '');
  const minutes = Math.round(Math.abs(theirs - Date.now()) / 60_000);
  const apart =
    minutes > 0
      ? `this machine's clock is ${minutes} minutes ${theirs > Date.now() ? 'behind' : 'ahead of'} the store's`
      : "this machine's clock and the store's are more than 15 minutes apart";
  return {
    code: 'RequestTimeTooSkewed',
    message: `Clock skew: ${apart}`,
    hint: 'Requests are signed with the time. Let both machines take theirs from NTP.',
    isUserFault: true,
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
