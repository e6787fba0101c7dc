import { type ClientBase, DatabaseError } from 'pg';
import { CHECKPOINT_SCHEMA } from './schemas';

/** The role that the connections of requests take: it owns nothing, can't log in, and row-level security binds it. */
export const TENANT_ROLE = 'gantry_tenant';
/** The tenant whose rows exist for a connection of that role. */
export const TENANT_SETTING = 'gantry.tenant_id';
/** Who changes rows, for the audit log. */
export const ACTOR_SETTING = 'gantry.actor';
/** `on` in the transactions that may delete from the audit log: those of its retention. */
export const RETENTION_SETTING = 'gantry.audit_retention';

/** What no request of a tenant has any business with: keys, tenants and the audit log are the operator's. */
const OPERATOR_TABLES = ['api_keys', 'audit_chain', 'audit_log', 'migrations', 'tenants'];

/** SQLSTATEs of a role or grant that another database's migration made at the same moment: roles are the cluster's. */
const MADE_MEANWHILE = new Set(['42710', '23505', 'XX000']);

/**
 * Puts every table with a tenant_id behind row-level security. Part of every migration run, so that a table can't be
 * forgotten and a restored dump (which has no roles) is whole again. Changes nothing where everything is in place.
 * @throws {Error} with the statements for an administrator, when the database user may not make roles
 */
export async function isolateTenants(client: ClientBase): Promise<void> {
  await ensureRole(client);
  // Policies name no role, so that a dump can be restored where the role isn't there yet: the owner is exempt anyway.
  // The setting is read once a statement and not once a row: that is what the sub-select is for.
  await client.query(`
    DO $$
    DECLARE found record;
    BEGIN
      FOR found IN SELECT nspname AS name FROM pg_namespace
        WHERE nspname IN (current_schema(), '${CHECKPOINT_SCHEMA}') AND NOT has_schema_privilege('${TENANT_ROLE}', oid, 'USAGE')
      LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${TENANT_ROLE}', found.name);
      END LOOP;
      FOR found IN
        SELECT c.oid, c.oid::regclass::text AS name, c.relname, c.relrowsecurity, format_type(a.atttypid, NULL) AS tenant_type,
               EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND polname = 'tenant_isolation') AS has_policy
        FROM pg_class c
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
        WHERE c.relnamespace IN (current_schema()::regnamespace, '${CHECKPOINT_SCHEMA}'::regnamespace)
          AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND pg_has_role(c.relowner, 'USAGE')
      LOOP
        IF found.tenant_type IS NOT NULL AND NOT found.relrowsecurity THEN
          EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', found.name);
        END IF;
        IF found.tenant_type IS NOT NULL AND NOT found.has_policy THEN
          EXECUTE format(
            'CREATE POLICY tenant_isolation ON %s USING (tenant_id = (SELECT nullif(current_setting(''${TENANT_SETTING}'', true), '''')::%s))',
            found.name, found.tenant_type);
        END IF;
        IF found.relname NOT IN (${OPERATOR_TABLES.map((table) => `'${table}'`).join(', ')})
          AND NOT has_table_privilege('${TENANT_ROLE}', found.oid, 'DELETE') THEN
          EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO ${TENANT_ROLE}', found.name);
        END IF;
      END LOOP;
    END $$`);
  await keepMetadataIndexes(client);
}

async function ensureRole(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ exists: boolean; usable: boolean }>(
    `SELECT count(*) > 0 AS exists, coalesce(bool_or(pg_has_role(oid, 'SET')), false) AS usable
     FROM pg_roles WHERE rolname = '${TENANT_ROLE}'`,
  );
  const [{ exists, usable }] = rows;
  if (!exists) await asAdministrator(client, `CREATE ROLE ${TENANT_ROLE} NOLOGIN NOBYPASSRLS`);
  if (!usable) await asAdministrator(client, `GRANT ${TENANT_ROLE} TO CURRENT_USER`);
}

async function asAdministrator(client: ClientBase, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (MADE_MEANWHILE.has(error.code ?? '')) return;
    throw new Error(
      `The database user may not do what keeps tenants apart (${error.message}). Let an administrator do it once: ` +
        `CREATE ROLE ${TENANT_ROLE} NOLOGIN NOBYPASSRLS; GRANT ${TENANT_ROLE} TO <the user of DATABASE_URL>;`,
      { cause: error },
    );
  }
}

/**
 * Behind a policy, Postgres uses an index for a condition only if the operator can't leak what it sees in other rows. That
 * is true of jsonb's @>, which answers yes or no and raises nothing, but Postgres doesn't say so of it; without this, a
 * search by metadata reads all rows of the tenant. Superusers may say it; elsewhere searches are right, only slower.
 * @see docs/decisions/tenant-isolation.md
 */
async function keepMetadataIndexes(client: ClientBase): Promise<void> {
  await client.query(`
    DO $$
    BEGIN
      IF current_setting('is_superuser') = 'on'
        AND EXISTS (SELECT FROM pg_proc WHERE oid = 'jsonb_contains(jsonb, jsonb)'::regprocedure AND NOT proleakproof)
      THEN
        ALTER FUNCTION pg_catalog.jsonb_contains(jsonb, jsonb) LEAKPROOF;
      END IF;
    END $$`);
}
