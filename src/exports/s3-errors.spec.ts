import { explainStoreError } from './s3-errors';

function answer(name: string, status: number, message = name): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: status } });
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
    [answer('RequestTimeTooSkewed', 403), 'Clock skew', true],
    [answer('ExpiredToken', 400), 'Session token has expired', true],
    [answer('PermanentRedirect', 301), 'Region is not valid', true],
    [answer('NotFound', 404), 'Invalid endpoint', true],
    [answer('MethodNotAllowed', 405), 'Invalid endpoint', true],
    [answer('SlowDown', 503), 'SlowDown', false],
    [answer('InternalError', 500), 'InternalError', false],
    [answer('TooManyRequests', 429), 'TooManyRequests', false],
    [new Error('connect ECONNREFUSED 127.0.0.1:9'), 'Invalid endpoint', false],
    [new AggregateError([new Error('connect ECONNREFUSED ::1:9')], ''), 'Invalid endpoint', false],
    [new Error('socket hang up'), 'Error: socket hang up', false],
  ])('%s', (error, message, isUserFault) => {
    const problem = explainStoreError(error);
    expect(problem.message).toMatch(new RegExp(`^${message}`));
    expect(problem.isUserFault).toBe(isUserFault);
  });
});
