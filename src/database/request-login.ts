import { randomBytes } from 'node:crypto';
import { type ClientBase, DatabaseError } from 'pg';

/** The role under which the statements of requests log in. */
export interface RequestLogin {
  role: string;
  password: string;
}

/** SQLSTATEs of a role that another process made at the same moment. */
const MADE_MEANWHILE = new Set(['42710', '23505', 'XX000']);

/** Reads what `ensureRequestLogin` made. @throws where the database isn't of this release */
export async function readRequestLogin(client: ClientBase): Promise<RequestLogin> {
  const { rows } = await client.query<RequestLogin>('SELECT role, password FROM request_login');
  if (rows.length === 0) throw new Error('The database has no login for requests: migrate it to this release first');
  return rows[0];
}

/**
 * Makes the login role of this database's requests, unless it is there. Its name and password are drawn once and kept in a
 * table that only the owner reads: a role belongs to the whole cluster, which may have several databases of Gantry, and a
 * dump has tables but no roles.
 * @throws {Error} with the statements for an administrator, when the database user may not make roles
 */
export async function ensureRequestLogin(client: ClientBase): Promise<string> {
  await client.query('INSERT INTO request_login (role, password) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    `gantry_requests_${randomBytes(5).toString('hex')}`,
    randomBytes(24).toString('base64url'),
  ]);
  const { role, password } = await readRequestLogin(client);
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
  if (rowCount === 0) await createRole(client, role, password);
  return role;
}

/**
 * Makes sure that row-level security binds a role and that it can become no other one.
 * @throws {Error} that says what it may do too much
 */
export async function checkRequestRole(client: ClientBase, role: string): Promise<void> {
  const { rows } = await client.query<{ isAboveRls: boolean; isMember: boolean; ownsTables: boolean }>(
    `SELECT rolsuper OR rolbypassrls AS "isAboveRls",
       EXISTS (SELECT FROM pg_auth_members WHERE member = pg_roles.oid) AS "isMember",
       EXISTS (SELECT FROM pg_class WHERE relowner = pg_roles.oid AND relnamespace = current_schema()::regnamespace) AS "ownsTables"
     FROM pg_roles WHERE rolname = $1`,
    [role],
  );
  if (rows.length === 0)
    throw new Error(`The database has no role "${role}", which GANTRY_REQUESTS_DATABASE_URL names`);
  const [{ isAboveRls, isMember, ownsTables }] = rows;
  const faults = [
    ...(isAboveRls ? ['is a superuser or bypasses row-level security'] : []),
    ...(isMember ? ['is a member of other roles'] : []),
    ...(ownsTables ? ["owns Gantry's tables"] : []),
  ];
  if (faults.length === 0) return;
  throw new Error(
    `The role "${role}" of requests ${faults.join(' and ')}: nothing would keep tenants apart. ` +
      `It has to be a role of its own with LOGIN and nothing else.`,
  );
}

async function createRole(client: ClientBase, role: string, password: string): Promise<void> {
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
        `it once: CREATE ROLE gantry_requests LOGIN NOINHERIT PASSWORD '<a password>'; and set GANTRY_REQUESTS_DATABASE_URL ` +
        `to DATABASE_URL with that user and password, for the migration and for every process.`,
      { cause: error },
    );
  }
}
