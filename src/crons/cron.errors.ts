import { ApiError, invalidField } from '../http/api-error';
import type { CronSyntaxError } from './cron-expression';

export const cronErrors = {
  notFound: () => new ApiError(404, 'cron_not_found', 'Cron not found', { format: 'text' }),
  badSchedule: ({ reason, position }: CronSyntaxError) => {
    const message = `${reason}, at position ${position}`;
    return new ApiError(422, 'invalid_cron', `schedule: ${message}`, {
      errors: [{ path: 'schedule', message, position }],
    });
  },
  neverDue: () => invalidField('schedule', 'No date matches it, so it would never run'),
  badTimezone: (name: string) => invalidField('timezone', `"${name}" is not an IANA time zone, such as Europe/Berlin`),
  overBeforeStart: () => invalidField('end_time', 'The schedule has no tick from now to this time'),
  emptyPatch: () => new ApiError(400, 'empty_patch', 'The body is empty: name what is to change'),
  badAssistant: (name: string) =>
    invalidField('assistant_id', `"${name}" is neither a UUID nor the name of a graph that is served here`),
  hasOtherValues: () =>
    new ApiError(
      400,
      'cron_config_and_context',
      'The cron has values under the other one of the names `context` and `config.configurable`: clear those with {} in the same request',
    ),
  stopped: (reason: string) => new ApiError(409, 'cron_stopped', `The cron has stopped: ${reason}`),
  webhookUnreadable: () =>
    new ApiError(
      409,
      'cron_webhook_unreadable',
      "The cron's webhook or user can't be decrypted, since the sealing key is missing: set the webhook again",
    ),
  backfillOrder: () => invalidField('end', 'must not be before `start`'),
  backfillAhead: () => invalidField('end', 'must not be in the future: those ticks are still to come'),
  backfillTooLarge: (limit: number) =>
    invalidField('end', `The range has more than ${limit} ticks: ask for it in parts`),
};
