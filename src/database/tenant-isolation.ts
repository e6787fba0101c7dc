import type { ClientBase } from 'pg';
import { UNPREFIXED_TENANT } from './checkpoint-key';
import { GRAPH_LOGIN, type LoginUrls, provideLogin, REQUEST_LOGIN, roleOf } from './logins';
import { CHECKPOINT_SCHEMA } from './schemas';
import { ensureTokenKey, readGraphsRole } from './tenant-token';

/** Setting of the tenant whose rows are visible to a connection of the role of requests. */
export const TENANT_SETTING = 'gantry.tenant_id';
/** Setting of the actor who changes rows, for the audit log. */
export const ACTOR_SETTING = 'gantry.actor';
/** `on` in the transactions that may delete from the audit log: those of its retention. */
export const RETENTION_SETTING = 'gantry.audit_retention';

/** Tables that no request of a tenant may access: keys, tenants and the audit log are the operator's. */
const OPERATOR_TABLES = [
  ...['api_keys', 'audit_chain', 'audit_log', 'graph_login', 'migrations', 'request_login', 'run_owners'],
  ...['secret_key_check', 'tenant_token_key', 'tenants'],
  ...['checkpoint_migrations', 'store_migrations', 'vector_migrations'],
];

/** LangGraph's tables, which have no tenant_id: a thread's key contains the tenant (checkpointKey). */
const CHECKPOINT_TABLES = ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes'];
/**
 * The policy compares it inside a coalesce, of which Postgres expects half of the rows to pass: of a comparison alone it expects
 * so few that it would sort all checkpoints of a thread to find the newest, instead of reading that one from the index.
 */
const KEYS_TENANT = `CASE WHEN strpos(thread_id, '/') = 0 THEN '${UNPREFIXED_TENANT}' ELSE split_part(thread_id, '/', 1) END`;

/** Tables that a graph process reads and writes: states, and the items of the store. */
const GRAPH_TABLES = [...CHECKPOINT_TABLES, 'store', 'store_embeddings'];

const listed = (tables: string[]): string => tables.map((table) => `'${table}'`).join(', ');

/**
 * Protects every table with a tenant_id, and those of checkpoints, with row-level security, and gives the roles of requests and
 * of graph processes their rights. Runs with every migration, so that no table can be forgotten and a restored dump (which has
 * no roles) is complete again. Changes nothing if everything is in place.
 * @throws {Error} with the statements for an administrator, if the database user may not create roles
 */
export async function isolateTenants(client: ClientBase, { requestsUrl, graphsUrl }: LoginUrls = {}): Promise<void> {
  const requests = await provideLogin(client, REQUEST_LOGIN, requestsUrl);
  await enforcePolicies(client);
  await closeSearchPaths(client);
  await grantTables(client, requests, `c.relname NOT IN (${listed(OPERATOR_TABLES)})`);
  if (!graphsUrl) await refuseToForgetRole(client);
  const graphs = await provideLogin(client, GRAPH_LOGIN, graphsUrl);
  if (graphs === requests) {
    throw new Error(
      `The role "${graphs}" is that of requests, which serve every tenant: ${GRAPH_LOGIN.setting} has to name another one.`,
    );
  }
  await ensureTokenKey(client, graphs);
  await grantTables(client, graphs, `c.relname IN (${listed(GRAPH_TABLES)})`);
}

/**
 * Processes with a login that an administrator made would not be asked for tokens any more if another one were recorded.
 * @throws {Error} if that login exists and this migration isn't given it
 */
async function refuseToForgetRole(client: ClientBase): Promise<void> {
  const recorded = await readGraphsRole(client);
  const { rowCount } = await client.query(
    'SELECT FROM pg_roles WHERE rolname = $1 AND rolname NOT IN (SELECT role FROM graph_login)',
    [recorded],
  );
  if (rowCount === 0) return;
  throw new Error(
    `Graph processes log in as "${recorded}": give the migration ${GRAPH_LOGIN.setting} as they have it. ` +
      `To return to a login that the migration makes, drop that role first.`,
  );
}

/**
 * Makes sure that graph processes use the login for which the policies ask for tokens: with another one they could read the data of
 * all tenants.
 * @throws {Error} with what to do
 */
export async function checkGraphLogin(client: ClientBase, graphsUrl: string | undefined): Promise<void> {
  const { rows } = await client.query<{ role: string }>(`SELECT role FROM ${GRAPH_LOGIN.table}`);
  const used = graphsUrl ? roleOf(graphsUrl) : rows[0]?.role;
  const recorded = await readGraphsRole(client);
  if (used !== undefined && used === recorded) return;
  throw new Error(
    `Graph processes would log in as "${used}", but the migrations were run for "${recorded}": nothing would keep tenants ` +
      `apart. Give the migrations and every process the same ${GRAPH_LOGIN.setting}, and run the migrations again.`,
  );
}

/** Gantry's own tables and LangGraph's, as far as the database user owns them; partitions are reached through their parents. */
const OWN_TABLES = `
  c.relnamespace IN (current_schema()::regnamespace, '${CHECKPOINT_SCHEMA}'::regnamespace)
  AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND pg_has_role(c.relowner, 'USAGE')`;

async function enforcePolicies(client: ClientBase): Promise<void> {
  // Policies name no role, so that a dump can be restored before the role exists; the owner is exempt anyway. The setting is
  // read once a statement and not once a row: that is what the sub-select is for. Tables of graph processes ask for more than a
  // setting: earlier releases didn't, and theirs are made again.
  await client.query(`
    DO $$
    DECLARE
      found record;
      setting constant text := '(SELECT nullif(current_setting(''${TENANT_SETTING}'', true), ''''))';
      tenant text;
    BEGIN
      FOR found IN
        SELECT c.oid, c.oid::regclass::text AS name, c.relname, c.relrowsecurity, format_type(a.atttypid, NULL) AS tenant_type,
               EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND polname = 'tenant_isolation'
                 AND (c.relname NOT IN (${listed(GRAPH_TABLES)}) OR pg_get_expr(polqual, polrelid) LIKE '%tenant_of_connection()%')
               ) AS has_policy,
               c.relname IN (${listed(GRAPH_TABLES)}) AS is_graphs,
               c.relnamespace = '${CHECKPOINT_SCHEMA}'::regnamespace AND c.relname IN (${listed(CHECKPOINT_TABLES)}) AS is_checkpoints
        FROM pg_class c
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
        WHERE ${OWN_TABLES}
      LOOP
        tenant := CASE WHEN found.is_graphs THEN '(SELECT tenant_of_connection())' ELSE setting END;
        IF found.is_graphs AND NOT found.has_policy THEN
          EXECUTE format('DROP POLICY IF EXISTS tenant_isolation ON %s', found.name);
        END IF;
        IF (found.tenant_type IS NOT NULL OR found.is_checkpoints) AND NOT found.relrowsecurity THEN
          EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', found.name);
        END IF;
        IF found.tenant_type IS NOT NULL AND NOT found.has_policy THEN
          EXECUTE format('CREATE POLICY tenant_isolation ON %s USING (tenant_id = %s::%s)', found.name, tenant, found.tenant_type);
        END IF;
        IF found.is_checkpoints AND NOT found.has_policy THEN
          EXECUTE format('CREATE POLICY tenant_isolation ON %s USING (coalesce(${KEYS_TENANT.replaceAll("'", "''")} = %s, false))', found.name, tenant);
        END IF;
      END LOOP;
    END $$`);
}

/**
 * Functions with the owner's rights must not find a view that their caller created under the name of a table: temporary ones
 * come first in a search path, unless it names them last.
 */
async function closeSearchPaths(client: ClientBase): Promise<void> {
  await client.query(`
    DO $$
    DECLARE
      found record;
    BEGIN
      FOR found IN SELECT oid::regprocedure AS name FROM pg_proc
        WHERE pronamespace = current_schema()::regnamespace AND prosecdef AND pg_has_role(proowner, 'USAGE')
          AND NOT EXISTS (SELECT FROM unnest(proconfig) AS setting WHERE setting LIKE 'search_path=%, pg_temp')
      LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', found.name, current_schema());
      END LOOP;
    END $$`);
}

/** @param condition of the tables (c) that the role may read and write */
async function grantTables(client: ClientBase, role: string, condition: string): Promise<void> {
  const literal = client.escapeLiteral(role);
  const grantee = client.escapeLiteral(client.escapeIdentifier(role));
  await client.query(`
    DO $$
    DECLARE
      found record;
    BEGIN
      IF NOT has_database_privilege(${literal}, current_database(), 'CONNECT') THEN
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %s', current_database(), ${grantee});
      END IF;
      FOR found IN SELECT nspname AS name FROM pg_namespace
        WHERE nspname IN (current_schema(), '${CHECKPOINT_SCHEMA}') AND NOT has_schema_privilege(${literal}, oid, 'USAGE')
      LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %s', found.name, ${grantee});
      END LOOP;
      FOR found IN SELECT c.oid::regclass::text AS name FROM pg_class c
        WHERE ${OWN_TABLES} AND ${condition} AND NOT has_table_privilege(${literal}, c.oid, 'DELETE')
      LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %s', found.name, ${grantee});
      END LOOP;
    END $$`);
}
