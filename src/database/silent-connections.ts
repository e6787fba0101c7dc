import { Client, type ClientConfig, type Pool, type PoolClient } from 'pg';
import { activeStatementOf, cutConnection, serverProcessOf } from '../patches/pg/connection';

/** Has the kernel ask after some seconds, instead of two hours, whether the other end of an idle connection is still there. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
/** Time between two looks. A statement that is under way at two of them is asked about. */
const LOOK_MS = 15_000;
/** Time limit of the question itself. */
const ANSWER_MS = 10_000;
/** An answer may take this long to arrive. */
const DELIVERY_SECONDS = 5;

/** Where the server tracks no activities, every session counts as busy. */
const FIND_BUSY = `
  SELECT pg_backend_pid() AS own, ARRAY(
    SELECT pid FROM pg_stat_activity
    WHERE pid = ANY($1) AND (
      state IN ('active', 'disabled') OR state IS NULL OR state_change > clock_timestamp() - $2 * interval '1 second'
    )
  ) AS busy`;

/**
 * Cuts connections of a pool whose answers are lost: after a failover of the database, or when a router has forgotten them. The
 * kernel would notice a quarter of an hour later, and callers wait as long. Whether a statement only takes long is known to the server,
 * which is asked over a connection of its own.
 * @param login what the pool connects with
 */
export function cutSilentConnections(pool: Pool, login: ClientConfig, lookMs = LOOK_MS): void {
  /** The statement that each connection was waiting for at the last look. */
  const waiting = new Map<PoolClient, unknown>();
  pool.on('connect', (client) => waiting.set(client, null));
  pool.on('remove', (client) => waiting.delete(client));

  async function look(): Promise<void> {
    const suspects = new Map<PoolClient, unknown>();
    for (const [client, before] of waiting) {
      const now = activeStatementOf(client);
      if (now !== null && now === before) suspects.set(client, now);
      waiting.set(client, now);
    }
    if (suspects.size === 0) return;
    const busy = await findBusy(login, [...suspects.keys()].map(serverProcessOf));
    if (!busy) return;
    for (const [client, statement] of suspects) {
      // An answer that this process was too busy to read may have been read meanwhile.
      if (!busy.has(serverProcessOf(client)) && activeStatementOf(client) === statement) cutConnection(client);
    }
  }

  let isLooking = false;
  const timer = setInterval(() => {
    if (pool.ending) return clearInterval(timer);
    if (isLooking) return;
    isLooking = true;
    // While the server can't be reached, nothing is known: the next look asks again.
    void look()
      .catch(() => undefined)
      .finally(() => (isLooking = false));
  }, lookMs).unref();
}

/**
 * Those of the server processes that execute a statement, or did a moment ago; undefined where a pooler such as PgBouncer stands in
 * between, which gives its clients ids of its own.
 */
async function findBusy(login: ClientConfig, pids: number[]): Promise<Set<number> | undefined> {
  const client = new Client({ ...login, connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ own: number; busy: number[] }>(FIND_BUSY, [pids, DELIVERY_SECONDS]);
    return rows[0].own === serverProcessOf(client) ? new Set(rows[0].busy) : undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}
