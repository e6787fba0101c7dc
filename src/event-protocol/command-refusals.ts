import { ApiError } from '../http/api-error';
import type { CommandReply, ErrorCode } from './event-protocol.schemas';

/** A refusal in the protocol's format. */
export class CommandRefused extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'CommandRefused';
  }
}

/** The refusal of a whole thread: subscriptions on its WebSocket get no events. */
export class ThreadRefused extends Error {
  constructor(readonly reason: ApiError) {
    super(reason.detail);
    this.name = 'ThreadRefused';
  }
}

/** Translates errors of a check of the thread. @throws {ThreadRefused} if it refuses */
export function refuseThread(error: unknown): never {
  throw error instanceof ApiError && error.status < 500 ? new ThreadRefused(error) : error;
}

/** The reply to a refused command, or the last event of a refused stream. */
export function refusalOf(id: number | null, error: ApiError): CommandReply {
  return { type: 'error', id, error: codeOf(error), message: error.detail };
}

function codeOf({ status, code }: ApiError): ErrorCode {
  if (status === 401 || status === 403 || status === 429) return 'permission_denied';
  return code === 'run_not_found' ? 'no_such_run' : 'invalid_argument';
}
