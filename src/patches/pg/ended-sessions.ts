/**
 * @library pg 8.23.1
 * @patch Sets `_queryable` of a client to false when the server announces the end of its session (a message of severity FATAL), or
 * reports an error after which its session is of no further use.
 * @why The client takes such a message for the error of its statement and learns of the end from the socket. A pool that gets the
 * client back in between lends it once more, and the next statement, which could have had another connection, fails.
 * @upstream None found.
 * @remove When a client whose server has announced the end refuses statements by itself.
 */
import type { Client } from 'pg';

/**
 * Has a connection take no more statements, and its pool replace it, from the moment when the server announces its end.
 * @param fatal SQLSTATEs of errors that have the same effect
 */
export function noticeEndOfSession(client: Client, fatal: ReadonlySet<string> = new Set()): void {
  // In front of the client's own listener, whose callbacks may give the connection back.
  client.connection.prependListener('errorMessage', ({ severity, code = '' }: { severity?: string; code?: string }) => {
    if (severity === 'FATAL' || severity === 'PANIC' || fatal.has(code)) Object.assign(client, { _queryable: false });
  });
}
