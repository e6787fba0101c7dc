import { ApiError, invalidField } from '../http/api-error';

export const runErrors = {
  notFound: () => new ApiError(404, 'run_not_found', 'Run not found', { format: 'text' }),
  rejected: () =>
    new ApiError(
      409,
      'thread_busy',
      'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.',
    ),
  tooManyPending: (limit: number) =>
    new ApiError(
      429,
      'too_many_pending_runs',
      `The tenant has ${limit} runs that wait (GANTRY_PENDING_RUNS_PER_TENANT): try again when some of them have begun`,
      { headers: { 'retry-after': '5' } },
    ),
  nothingToCancel: () =>
    new ApiError(404, 'nothing_to_cancel', 'No pending or running runs matched', { format: 'text' }),
  alreadyEnded: (status: string) =>
    new ApiError(404, 'run_ended', `Run has already ended with status ${status}`, { format: 'text' }),
  resumeWithoutThread: () =>
    new ApiError(400, 'stateless_resume', 'command.resume needs a thread: a stateless run has nothing to resume'),
  idempotencyKeyInvalid: (maxLength: number) =>
    invalidField('Idempotency-Key', `must have 1 to ${maxLength} characters`),
  lastEventIdInvalid: () => invalidField('Last-Event-ID', 'must be an id of this stream, or - for its beginning'),
  idempotencyKeyReused: () =>
    new ApiError(409, 'idempotency_key_reused', 'This Idempotency-Key was used with another body: use a new key'),
  idempotentRunGone: () =>
    new ApiError(409, 'idempotent_run_gone', 'The run that this Idempotency-Key made has been deleted: use a new key'),
};
