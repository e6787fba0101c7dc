import { CredentialsRequired, RoleUnavailable } from '../credentials-required';
import { EndpointRefused } from '../endpoint-policy';
import { sentenceOf } from '../store-error';
import { explainS3Error } from './s3-errors';

function answer(name: string, status: number, message = name, headers: Record<string, string> = {}): Error {
  return Object.assign(new Error(message), {
    name,
    $metadata: { httpStatusCode: status },
    $response: { headers },
  });
}

/** The error of the client for a page of HTML. */
function unreadable(status: number): Error {
  const message =
    '@aws-sdk XML parse error: mismatched tags <hr> and </body>\n' +
    '  Deserialization error: to see the raw response, inspect the hidden field {error}.$response on this object.';
  return Object.assign(new Error(message), { $metadata: { httpStatusCode: status } });
}

describe('errors of stores', () => {
  it.each([
    [answer('AccessDenied', 403), 'Access denied', true],
    [answer('Forbidden', 403), 'Access denied', true],
    [answer('SomethingElse', 403), 'Access denied', true],
    [answer('NoSuchBucket', 404), 'Bucket is not valid', true],
    [answer('InvalidAccessKeyId', 403), 'Key ID you provided does not exist', true],
    [answer('XAdminUserNotFound', 404), 'Key ID you provided does not exist', true],
    [answer('InvalidBucketName', 400), 'Bucket is not valid', true],
    [answer('SignatureDoesNotMatch', 403), 'Signature does not match', true],
    [answer('RequestTimeTooSkewed', 403), 'Clock skew', true],
    [answer('ExpiredToken', 400), 'Session token has expired', true],
    [answer('PermanentRedirect', 301), 'Region is not valid', true],
    [answer('KMS.NotFoundException', 400), 'The KMS key does not exist', true],
    [answer('InvalidRequest', 400, 'Content-MD5 is required'), 'The store refused the request: Content-MD5', true],
    [answer('NotFound', 404), 'Invalid endpoint', true],
    [answer('MethodNotAllowed', 405), 'Invalid endpoint', true],
    [new EndpointRefused(), 'Invalid endpoint: this server does not connect to it', true],
    [new EndpointRefused(undefined, true), 'Invalid endpoint: this server does not connect to it', false],
    [new CredentialsRequired(), 'No credentials', true],
    [new RoleUnavailable(new Error('Throttling')), 'The role could not be assumed now', false],
    [Object.assign(new Error('none found'), { name: 'CredentialsProviderError' }), 'No credentials', false],
    [answer('NoSuchUpload', 404), 'The store answered 404', false],
    [answer('SlowDown', 503), 'The store answered 503: SlowDown', false],
    [answer('InternalError', 500), 'The store answered 500: InternalError', false],
    [answer('TooManyRequests', 429), 'The store answered 429', false],
    [unreadable(502), 'The store answered 502: not an answer of S3', false],
    [unreadable(404), 'Invalid endpoint', true],
    [unreadable(501), 'Invalid endpoint', true],
    [new Error('connect ECONNREFUSED 127.0.0.1:9'), 'Invalid endpoint', false],
    [new AggregateError([new Error('connect ECONNREFUSED ::1:9')], ''), 'Invalid endpoint', false],
    [new Error('socket hang up'), 'The store could not be reached: socket hang up', false],
  ])('%s', (error, message, isUserFault) => {
    const problem = explainS3Error(error);
    expect(problem.message).toMatch(new RegExp(`^${message}`));
    expect(problem.isUserFault).toBe(isUserFault);
    expect(problem.code).toMatch(/^[\w.]+( \w+)*$/);
    expect(problem.hint).toMatch(/^[A-Z].*\.$/);
  });

  it('report how far the clocks differ', () => {
    const date = new Date(Date.now() + 45 * 60_000).toUTCString();
    const { message } = explainS3Error(answer('RequestTimeTooSkewed', 403, 'too large', { date }));
    expect(message).toBe("Clock skew: this machine's clock is 45 minutes behind the store's");
  });

  it('consist of a sentence, a code and a hint', () => {
    expect(sentenceOf(explainS3Error(answer('InvalidAccessKeyId', 403)))).toBe(
      'Key ID you provided does not exist (InvalidAccessKeyId). ' +
        'Check access_key_id, and that it belongs to the store at endpoint_url.',
    );
  });
});
