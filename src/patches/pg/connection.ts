/**
 * @library pg 8.23.1
 * @patch Reads `processID`, `connection.stream` and `_activeQuery` of a client, which its types leave out or leave undocumented.
 * @why A statement can be cancelled only by the id of its server process, and a COPY that is broken off only by closing its
 * socket: a server that still has rows to send doesn't read the farewell. An answer that is lost leaves its statement active.
 * @upstream https://github.com/brianc/node-postgres/issues/2774
 * @remove When clients have methods to cancel a statement and to cut the connection.
 */
import type { ClientBase, PoolClient } from 'pg';

/** Id of the server process that serves the connection, for `pg_cancel_backend`. */
export function serverProcessOf(client: ClientBase): number {
  return (client as ClientBase & { processID: number }).processID;
}

/** The statement whose answer the connection waits for, to be compared with a later one; null when there is none. */
export function activeStatementOf(client: PoolClient): unknown {
  return (client as PoolClient & { _activeQuery: unknown })._activeQuery;
}

/** Closes the connection's socket, with whatever is still being sent on it. */
export function cutConnection(client: PoolClient): void {
  client.connection.stream.destroy();
}
