import { positiveInt, postgresUrl, type Values } from '../variables';

/** Postgres keeps milliseconds in 31 bits. */
const MAX_TIMEOUT_SECONDS = 2_147_483;

export const databaseVariables = {
  DATABASE_URL: postgresUrl.describe('`postgres://user:password@host:5432/name`'),
  GANTRY_REQUESTS_DATABASE_URL: postgresUrl.optional().meta({
    description:
      '`DATABASE_URL` with a login role that you made for requests ([why](auth.md#tenant-isolation-in-the-database))',
    shownDefault: 'made by the migrations',
  }),
  GANTRY_GRAPHS_DATABASE_URL: postgresUrl.optional().meta({
    description: 'the same with another login role, that you made for graph processes',
    shownDefault: 'made by the migrations',
  }),
  GANTRY_DATABASE_POOL: positiveInt
    // The sweeps of a worker hold one connection for their lock while each of them uses another one.
    .min(2, 'must be at least 2: the sweeps of a worker use two connections at once')
    .default(10)
    .describe(
      "size of each process's pool, at least 2; a process has a few more connections (notifications, checkpoints)",
    ),
  GANTRY_STATEMENT_TIMEOUT_SECONDS: positiveInt
    .max(MAX_TIMEOUT_SECONDS)
    .default(300)
    .describe("time limit of a request's SQL statement; after it the answer is 503"),
  GANTRY_SEARCH_TIMEOUT_SECONDS: positiveInt
    .max(MAX_TIMEOUT_SECONDS)
    .default(30)
    .describe(
      'the same for every search, list by conditions and count: a 422; they also end when their client has gone',
    ),
};

/** How the processes reach Postgres. */
export interface DatabaseSettings {
  url: string;
  /** URL with the login of requests, where an administrator made one. */
  requestsUrl: string | undefined;
  /** URL with the login of graph processes, where an administrator made one. */
  graphsUrl: string | undefined;
  /** Connections of a process's pool. */
  poolSize: number;
  /** The longest that one statement of a request may take, in milliseconds. */
  statementTimeouts: { requestMs: number; searchMs: number };
}

/** Logins that would let graph processes do what requests may. */
export function databaseProblems(env: Values<typeof databaseVariables>): string[] {
  const urls = [env.GANTRY_REQUESTS_DATABASE_URL, env.GANTRY_GRAPHS_DATABASE_URL];
  const [requests, graphs] = urls.map((url) => url && new URL(url).username);
  if (!graphs || graphs !== requests) return [];
  return [
    `GANTRY_GRAPHS_DATABASE_URL: names the role of GANTRY_REQUESTS_DATABASE_URL, which serves every tenant: ` +
      `graph processes need a login role of their own`,
  ];
}

export const databaseSettings = (env: Values<typeof databaseVariables>): DatabaseSettings => ({
  url: env.DATABASE_URL,
  requestsUrl: env.GANTRY_REQUESTS_DATABASE_URL,
  graphsUrl: env.GANTRY_GRAPHS_DATABASE_URL,
  poolSize: env.GANTRY_DATABASE_POOL,
  statementTimeouts: {
    requestMs: env.GANTRY_STATEMENT_TIMEOUT_SECONDS * 1000,
    searchMs: env.GANTRY_SEARCH_TIMEOUT_SECONDS * 1000,
  },
});
