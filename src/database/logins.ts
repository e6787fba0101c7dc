import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Client, type ClientBase, DatabaseError } from 'pg';
import { changedUrl } from '../config/postgres-url';

/** A login role of this database for one kind of work. Table and prefix are constants that are put into statements. */
export interface LoginKind {
  /** Table with the role and its password, readable only by the owner. */
  table: string;
  prefix: string;
  /** The processes that log in with it. */
  work: string;
  /** The setting with the URL of a role that an administrator made. */
  setting: string;
}

export const REQUEST_LOGIN: LoginKind = {
  table: 'request_login',
  prefix: 'gantry_requests',
  work: 'requests',
  setting: 'GANTRY_REQUESTS_DATABASE_URL',
};

export const GRAPH_LOGIN: LoginKind = {
  table: 'graph_login',
  prefix: 'gantry_graphs',
  work: 'graph processes',
  setting: 'GANTRY_GRAPHS_DATABASE_URL',
};

export interface Login {
  role: string;
  password: string;
}

/** Logins that an administrator made, by their URLs. */
export interface LoginUrls {
  requestsUrl?: string | undefined;
  graphsUrl?: string | undefined;
}

/** Attempts to connect, as for the process's own connections. */
const CONNECT_ATTEMPTS = 10;
const CONNECT_PAUSE_MS = 1000;

/** SQLSTATEs of a role that another process made at the same moment. */
const MADE_MEANWHILE = new Set(['42710', '23505', 'XX000']);

/** Reads the login of `ensureLogin`. @throws if the database doesn't belong to this release */
export async function readLogin(client: Pick<ClientBase, 'query'>, { table, work }: LoginKind): Promise<Login> {
  const { rows } = await client.query<Login>(`SELECT role, password FROM ${table}`);
  if (rows.length === 0) throw new Error(`The database has no login for ${work}: migrate it to this release first`);
  return rows[0];
}

/** Role that a URL logs in with. */
export function roleOf(url: string): string {
  return decodeURIComponent(new URL(url).username);
}

/**
 * The database's URL with another user, without any trace of the original one, since user code may read the URL. User and
 * password are parameters, which take precedence over those in the URL.
 */
export function withLogin(databaseUrl: string, { role, password }: Login): string {
  const url = new URL(databaseUrl);
  [url.username, url.password] = ['', ''];
  url.searchParams.set('user', role);
  url.searchParams.set('password', password);
  return changedUrl(url);
}

/**
 * Uses a connection of the database's owner once the database answers: a start doesn't wait for its own connections first.
 * @throws if the database doesn't answer in time
 */
export async function asOwner<T>(databaseUrl: string, use: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = await connect(databaseUrl);
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function connect(connectionString: string): Promise<Client> {
  for (let attempt = 1; ; attempt += 1) {
    const client = new Client({ connectionString });
    // An error of the connection also rejects the statement in flight.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (attempt === CONNECT_ATTEMPTS) throw error;
      await setTimeout(CONNECT_PAUSE_MS);
    }
  }
}

/** Makes sure that a login is there and bound by row-level security; returns its role. @throws {Error} with instructions */
export async function provideLogin(client: ClientBase, kind: LoginKind, url: string | undefined): Promise<string> {
  const role = url ? roleOf(url) : await ensureLogin(client, kind);
  await checkRole(client, role, kind);
  return role;
}

/**
 * Creates a login role of this database unless it exists. Its random name and password are stored in a table that only the
 * owner reads: a role belongs to the whole cluster, which may have several databases of Gantry, and a dump has tables but no
 * roles.
 * @throws {Error} with the statements for an administrator, if the database user may not create roles
 */
async function ensureLogin(client: ClientBase, kind: LoginKind): Promise<string> {
  await client.query(`INSERT INTO ${kind.table} (role, password) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [
    `${kind.prefix}_${randomBytes(5).toString('hex')}`,
    randomBytes(24).toString('base64url'),
  ]);
  const login = await readLogin(client, kind);
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [login.role]);
  if (rowCount === 0) await createRole(client, login, kind);
  return login.role;
}

/**
 * Makes sure that row-level security binds a role and that it can become no other one.
 * @throws {Error} naming its excessive rights
 */
async function checkRole(client: ClientBase, role: string, { work, setting }: LoginKind): Promise<void> {
  const { rows } = await client.query<{ isAboveRls: boolean; isMember: boolean; ownsTables: boolean }>(
    `SELECT rolsuper OR rolbypassrls AS "isAboveRls",
       EXISTS (SELECT FROM pg_auth_members WHERE member = pg_roles.oid) AS "isMember",
       EXISTS (SELECT FROM pg_class WHERE relowner = pg_roles.oid AND relnamespace = current_schema()::regnamespace) AS "ownsTables"
     FROM pg_roles WHERE rolname = $1`,
    [role],
  );
  if (rows.length === 0) throw new Error(`The database has no role "${role}", which ${setting} names`);
  const [{ isAboveRls, isMember, ownsTables }] = rows;
  const faults = [
    ...(isAboveRls ? ['is a superuser or bypasses row-level security'] : []),
    ...(isMember ? ['is a member of other roles'] : []),
    ...(ownsTables ? ["owns Gantry's tables"] : []),
  ];
  if (faults.length === 0) return;
  throw new Error(
    `The role "${role}" of ${work} ${faults.join(' and ')}: nothing would keep tenants apart. ` +
      `It has to be a role of its own with LOGIN and nothing else.`,
  );
}

async function createRole(
  client: ClientBase,
  { role, password }: Login,
  { prefix, setting }: LoginKind,
): Promise<void> {
  try {
    await client.query(
      `CREATE ROLE ${client.escapeIdentifier(role)} LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS
       PASSWORD ${client.escapeLiteral(password)}`,
    );
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (MADE_MEANWHILE.has(error.code ?? '')) return;
    throw new Error(
      `The database user may not make the login role that keeps tenants apart (${error.message}). Let an administrator do ` +
        `it once: CREATE ROLE ${prefix} LOGIN NOINHERIT PASSWORD '<a password>'; and set ${setting} ` +
        `to DATABASE_URL with that user and password, for the migration and for every process.`,
      { cause: error },
    );
  }
}
