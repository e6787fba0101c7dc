import type { ClientBase } from 'pg';
import { UNPREFIXED_TENANT } from './checkpoint-key';
import { checkRequestRole, ensureRequestLogin } from './request-login';
import { CHECKPOINT_SCHEMA } from './schemas';

/** The tenant whose rows exist for a connection of the role of requests. */
export const TENANT_SETTING = 'gantry.tenant_id';
/** Who changes rows, for the audit log. */
export const ACTOR_SETTING = 'gantry.actor';
/** `on` in the transactions that may delete from the audit log: those of its retention. */
export const RETENTION_SETTING = 'gantry.audit_retention';

/** What no request of a tenant has any business with: keys, tenants and the audit log are the operator's. */
const OPERATOR_TABLES = [
  ...['api_keys', 'audit_chain', 'audit_log', 'migrations', 'request_login', 'tenants'],
  ...['checkpoint_migrations', 'store_migrations', 'vector_migrations'],
];

/** LangGraph's tables, which have no tenant_id: the tenant stands in the key of a thread (checkpointKey). */
const CHECKPOINT_TABLES = ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes'];
/**
 * The policy compares it inside a coalesce, of which Postgres expects half of the rows to pass: of a comparison alone it expects
 * so few that it would sort all checkpoints of a thread to find the newest, instead of reading that one from the index.
 */
const KEYS_TENANT = `CASE WHEN strpos(thread_id, '/') = 0 THEN '${UNPREFIXED_TENANT}' ELSE split_part(thread_id, '/', 1) END`;

const listed = (tables: string[]): string => tables.map((table) => `'${table}'`).join(', ');

/**
 * Puts every table with a tenant_id, and those of checkpoints, behind row-level security, and gives the role of requests
 * its rights. Part of every migration run, so that a table can't be forgotten and a restored dump (which has no roles) is
 * whole again. Changes nothing where everything is in place.
 * @param requestsUrl with a role that an administrator made for requests; one is made when absent
 * @throws {Error} with the statements for an administrator, when the database user may not make roles
 */
export async function isolateTenants(client: ClientBase, requestsUrl?: string): Promise<void> {
  const role = requestsUrl ? decodeURIComponent(new URL(requestsUrl).username) : await ensureRequestLogin(client);
  await checkRequestRole(client, role);
  const [literal, identifier] = [client.escapeLiteral(role), client.escapeIdentifier(role)];
  const grantee = client.escapeLiteral(identifier);
  // Policies name no role, so that a dump can be restored where the role isn't there yet: the owner is exempt anyway.
  // The setting is read once a statement and not once a row: that is what the sub-select is for.
  await client.query(`
    DO $$
    DECLARE
      found record;
      tenant constant text := '(SELECT nullif(current_setting(''${TENANT_SETTING}'', true), ''''))';
    BEGIN
      IF NOT has_database_privilege(${literal}, current_database(), 'CONNECT') THEN
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %s', current_database(), ${grantee});
      END IF;
      FOR found IN SELECT nspname AS name FROM pg_namespace
        WHERE nspname IN (current_schema(), '${CHECKPOINT_SCHEMA}') AND NOT has_schema_privilege(${literal}, oid, 'USAGE')
      LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %s', found.name, ${grantee});
      END LOOP;
      FOR found IN
        SELECT c.oid, c.oid::regclass::text AS name, c.relname, c.relrowsecurity, format_type(a.atttypid, NULL) AS tenant_type,
               EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND polname = 'tenant_isolation') AS has_policy,
               c.relnamespace = '${CHECKPOINT_SCHEMA}'::regnamespace AND c.relname IN (${listed(CHECKPOINT_TABLES)}) AS is_checkpoints
        FROM pg_class c
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
        WHERE c.relnamespace IN (current_schema()::regnamespace, '${CHECKPOINT_SCHEMA}'::regnamespace)
          AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND pg_has_role(c.relowner, 'USAGE')
      LOOP
        IF (found.tenant_type IS NOT NULL OR found.is_checkpoints) AND NOT found.relrowsecurity THEN
          EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', found.name);
        END IF;
        IF found.tenant_type IS NOT NULL AND NOT found.has_policy THEN
          EXECUTE format('CREATE POLICY tenant_isolation ON %s USING (tenant_id = %s::%s)', found.name, tenant, found.tenant_type);
        END IF;
        IF found.is_checkpoints AND NOT found.has_policy THEN
          EXECUTE format('CREATE POLICY tenant_isolation ON %s USING (coalesce(${KEYS_TENANT.replaceAll("'", "''")} = %s, false))', found.name, tenant);
        END IF;
        IF found.relname NOT IN (${listed(OPERATOR_TABLES)})
          AND NOT has_table_privilege(${literal}, found.oid, 'DELETE') THEN
          EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %s', found.name, ${grantee});
        END IF;
      END LOOP;
    END $$`);
}
