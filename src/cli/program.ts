import { Command } from 'commander';
import { z } from 'zod';
import { toAuditRecord } from '../audit/audit.mapper';
import type { AuditRepository } from '../audit/audit.repository';
import { AUDIT_ACTIONS, auditQuery } from '../audit/audit.schemas';
import type { AuditVerificationService } from '../audit/audit-verification.service';
import { toApiKey, toTenant } from '../auth/admin.mapper';
import type { Tenant } from '../auth/admin.schemas';
import type { TenantId } from '../auth/tenant';
import { type Entitlement, ENTITLEMENTS } from '../auth/entitlements';
import { TenantsService } from '../auth/tenants.service';
import type { SecretRotationService } from '../crypto/secret-rotation.service';
import type { ExportVerificationService } from '../exports/verification/export-verification.service';
import { uuid } from '../http/uuid';
import type { RunExplanationService } from '../runs/explanation/run-explanation.service';
import { toReport } from './run-report';
import { parseExpiry } from './expiry';
import { print, table } from './output';

/** Keys or tenants that a list shows: an operator's, not a customer base's. */
const LIST_LIMIT = 1000;

/** Gives the services to a command: the database is opened only for a command that is right. */
export type WithServices = <T>(work: (services: Services) => Promise<T>) => Promise<T>;

interface Services {
  tenants: TenantsService;
  verification: ExportVerificationService;
  rotation: SecretRotationService;
  audit: AuditRepository;
  auditVerification: AuditVerificationService;
  explanation: RunExplanationService;
}

interface Json {
  json?: boolean;
}

/**
 * `gantry keys`, `gantry tenants`, `gantry exports verify`, `gantry runs explain`, `gantry secrets rotate`, `gantry audit`: `--help`
 * shows the rest.
 * @param acceptSecretKey for the only command that may run with another key than the database was used with
 */
export function createProgram(withServices: WithServices, acceptSecretKey: () => Promise<void>): Command {
  const program = new Command('gantry')
    .description('Administers a Gantry: the one that DATABASE_URL names, or that "npm start" runs or ran here.')
    .showHelpAfterError('(add --help to list the commands)');
  addKeys(program.command('keys').description('API keys'), withServices);
  addTenants(program.command('tenants').description('tenants and what their plans include'), withServices);
  addRuns(program.command('runs').description('runs of graphs'), withServices);
  addExports(program.command('exports').description('bulk exports'), withServices);
  addSecrets(program.command('secrets').description('what is stored encrypted'), withServices, acceptSecretKey);
  addAudit(program.command('audit').description('who did what, newest first'), withServices);
  return program;
}

function addRuns(runs: Command, withServices: WithServices): void {
  runs
    .command('explain <run-id>')
    .description('the state of a run, what it waits for and what to do')
    .option('--json', 'for programs')
    .action(async (runId: string, { json }: Json) => {
      const id = uuid.safeParse(runId);
      if (!id.success) throw new Error(`"${runId}" is not a run id: give a UUID`);
      const report = toReport(await withServices(({ explanation }) => explanation.explain(id.data)));
      print(report.fields, report.text, json);
    });
}

function addExports(exports: Command, withServices: WithServices): void {
  exports
    .command('verify <export-id>')
    .description('compare the objects in the bucket with what was written; exits with 1 when they differ')
    .option('-t, --tenant <tenant>', 'tenant of the export', 'default')
    .option('--checksums', 'read every byte, not only the end of each file')
    .option('--json', 'for programs')
    .action(async (exportId: string, { tenant, checksums, json }: { tenant: string; checksums?: boolean } & Json) => {
      const report = await withServices(async ({ tenants, verification }) => {
        const { tenantId } = await tenants.byIdOrName(tenant);
        return verification.verify(tenantId as TenantId, exportId, checksums ?? false);
      });
      const { files, rows, bytes, problems } = report;
      const lines = problems.map(({ path, problem }) => `${path} ${problem}`);
      const verdict = report.verified ? 'Verified' : `NOT as it was written (${problems.length} problems)`;
      print(report, [...lines, `${verdict}: ${files} files, ${rows} rows, ${bytes} bytes.`].join('\n'), json);
      if (!report.verified) process.exitCode = 1;
    });
}

function addSecrets(secrets: Command, withServices: WithServices, acceptSecretKey: () => Promise<void>): void {
  secrets
    .command('rotate')
    .description('seal all stored secrets under the first of GANTRY_SEALING_KEYS')
    .option('--json', 'for programs')
    .action(async ({ json }: Json) => {
      const columns = await withServices(({ rotation }) => rotation.rotate());
      const rows = columns.map((each) => [
        `${each.table}.${each.column}`,
        String(each.rotated),
        String(each.unreadable),
      ]);
      print(columns, table(['STORED', 'RESEALED', 'UNREADABLE'], rows), json);
      if (columns.some(({ unreadable }) => unreadable > 0)) process.exitCode = 1;
    });
  secrets
    .command('accept-key')
    .description('make GANTRY_SECRET_KEY the key of the database, instead of the one that it was used with')
    .option('--json', 'for programs')
    .action(async ({ json }: Json) => {
      await acceptSecretKey();
      const text = 'GANTRY_SECRET_KEY is the key of this database now: processes with another one refuse to start.';
      print({ accepted: true }, text, json);
    });
}

function addKeys(keys: Command, withServices: WithServices): void {
  keys
    .command('create')
    .description('create a key; it is shown only once')
    .requiredOption('-n, --name <name>', 'its purpose or its owner')
    .option('-t, --tenant <tenant>', 'tenant that it gives access to', 'default')
    .option('-e, --expires <when>', '12h, 90d, 4w or a date; never when absent')
    .option('--json', 'for programs')
    .action(async ({ name, tenant, expires, json }: { name: string; tenant: string; expires?: string } & Json) => {
      const expiresAt = expires === undefined ? null : parseExpiry(expires, new Date());
      const created = await withServices(async ({ tenants }) => {
        const { tenantId } = await tenants.byIdOrName(tenant);
        return tenants.createKey(tenantId, name, expiresAt);
      });
      const key = toApiKey(created.row);
      const text = [
        created.key,
        '',
        `Send it as X-API-Key (X-Tenant-Id: ${key.tenant_id}). It is not shown again.`,
        `To revoke it: gantry keys revoke ${key.key_id}`,
      ];
      print({ ...key, key: created.key }, text.join('\n'), json);
    });
  keys
    .command('list')
    .description('keys, newest first')
    .option('-t, --tenant <tenant>', 'of this tenant only')
    .option('--json', 'for programs')
    .action(async ({ tenant, json }: { tenant?: string } & Json) => {
      const page = await withServices(async ({ tenants }) => {
        const tenantId = tenant === undefined ? undefined : (await tenants.byIdOrName(tenant)).tenantId;
        return tenants.listKeys(tenantId, LIST_LIMIT, 0);
      });
      const found = page.items.map(toApiKey);
      const rows = found.map((key) => [
        key.key_id,
        key.name,
        key.hint,
        key.tenant_id,
        seconds(key.created_at),
        seconds(key.last_used_at),
        key.revoked_at ? `revoked ${seconds(key.revoked_at)}` : expiry(key.expires_at),
      ]);
      print(found, table(['KEY ID', 'NAME', 'KEY', 'TENANT', 'CREATED', 'LAST USED', 'EXPIRES'], rows), json);
    });
  keys
    .command('revoke <key-id>')
    .description('revoke a key at once')
    .option('--json', 'for programs')
    .action(async (keyId: string, { json }: Json) => {
      const key = toApiKey(await withServices(({ tenants }) => tenants.revokeKey(keyId)));
      print(key, `Revoked ${key.hint} (${key.name}) of tenant ${key.tenant_id}.`, json);
    });
}

function addTenants(tenants: Command, withServices: WithServices): void {
  tenants
    .command('create <name>')
    .description('create a tenant')
    .option('--id <uuid>', 'its id; generated when absent')
    .option('--json', 'for programs')
    .action(async (name: string, { id, json }: { id?: string } & Json) => {
      const tenant = toTenant(await withServices((services) => services.tenants.createTenant(name, id)));
      print(tenant, tenantTable([tenant]), json);
    });
  tenants
    .command('list')
    .description('tenants, oldest first')
    .option('--json', 'for programs')
    .action(async ({ json }: Json) => {
      const page = await withServices((services) => services.tenants.listTenants(LIST_LIMIT, 0));
      const found = page.items.map(toTenant);
      print(found, tenantTable(found), json);
    });
  tenants
    .command('set <tenant>')
    .description('rename a tenant, or change what its plan includes')
    .option('--name <name>', 'its new name')
    .option('--enable <entitlement...>', `of: ${ENTITLEMENTS.join(', ')}`, entitlement)
    .option('--disable <entitlement...>', 'requests for these answer 403 with the reason', entitlement)
    .option('--json', 'for programs')
    .action(
      async (idOrName: string, options: { name?: string; enable?: Entitlement[]; disable?: Entitlement[] } & Json) => {
        const switches = [
          ...(options.enable ?? []).map((each) => [each, true] as const),
          ...(options.disable ?? []).map((each) => [each, false] as const),
        ];
        const change = { name: options.name, entitlements: Object.fromEntries(switches) };
        const changed = await withServices(async (services) => {
          const { tenantId } = await services.tenants.byIdOrName(idOrName);
          return services.tenants.changeTenant(tenantId, change);
        });
        const tenant = toTenant(changed);
        print(tenant, tenantTable([tenant]), options.json);
      },
    );
}

function addAudit(audit: Command, withServices: WithServices): void {
  audit
    .command('verify')
    .description('check that the log is unmodified; exits with 1 when it is not')
    .option('--head <position:hash>', 'head from an earlier report: detects whether the log was truncated since')
    .option('--json', 'for programs')
    .action(async ({ head, json }: { head?: string } & Json) => {
      const report = await withServices(({ auditVerification }) => auditVerification.verify(head));
      const verdict = report.verified ? 'Verified' : 'NOT as it was written';
      const lines = [...report.problems, `${verdict}: ${report.records} records. Head: ${report.head ?? 'none'}`];
      print(report, lines.join('\n'), json);
      if (!report.verified) process.exitCode = 1;
    });
  audit
    .option('-t, --tenant <tenant>', 'in this tenant')
    .option('--actor <id>', 'by this key or user')
    .option('--action <action>', AUDIT_ACTIONS.join(', '))
    .option('--resource <kind>', 'thread, run, assistant, cron, store_item, bulk_export, api_key …')
    .option('--id <uuid>', 'of this resource')
    .option('--since <instant>', 'such as 2026-11-21T00:00:00Z')
    .option('--until <instant>')
    .option('--before <audit id>', 'lists older records than this one (from the last line of the previous page)')
    .option('--limit <number>', 'maximum number of records', '100')
    .option('--json', 'for programs')
    .action(
      async ({ tenant, actor, id, json, ...rest }: Record<'tenant' | 'actor' | 'id', string | undefined> & Json) => {
        const records = await withServices(async (services) => {
          const tenantId = tenant === undefined ? undefined : (await services.tenants.byIdOrName(tenant)).tenantId;
          const asked = auditQuery.safeParse({ ...rest, tenant_id: tenantId, actor_id: actor, resource_id: id });
          if (!asked.success) throw new Error(z.prettifyError(asked.error));
          return (await services.audit.searchRecords(asked.data)).map(toAuditRecord);
        });
        const rows = records.map((record) => [
          record.audit_id,
          seconds(record.at),
          record.tenant_id,
          [record.actor.kind, record.actor.id].filter((part) => part !== null).join(' '),
          record.actor.address,
          record.action,
          record.resource,
          record.item ? [...record.item.namespace, record.item.key].join(' / ') : record.resource_id,
          record.changed?.join(', ') ?? record.reason,
        ]);
        print(records, table(['ID', 'AT', 'TENANT', 'BY', 'FROM', 'DID', 'TO', 'WHICH', 'CHANGED'], rows), json);
      },
    );
}

/** @throws for a name that is none */
function entitlement(name: string, earlier: Entitlement[] = []): Entitlement[] {
  const known = ENTITLEMENTS.find((each) => each === name);
  if (!known) throw new Error(`There is no entitlement "${name}": there are ${ENTITLEMENTS.join(' and ')}`);
  return [...earlier, known];
}

function tenantTable(tenants: Tenant[]): string {
  const rows = tenants.map(({ tenant_id, name, entitlements, created_at }) => {
    const on = ENTITLEMENTS.filter((each) => entitlements[each]);
    return [tenant_id, name, seconds(created_at), on.length > 0 ? on.join(', ') : null];
  });
  return table(['TENANT', 'NAME', 'CREATED', 'INCLUDES'], rows);
}

/** `2026-11-21 12:34:56`: what a person needs of an instant. */
function seconds(time: string): string;
function seconds(time: string | null): string | null;
function seconds(time: string | null): string | null {
  return time?.slice(0, 19).replace('T', ' ') ?? null;
}

function expiry(time: string | null): string {
  if (time === null) return 'never';
  return Date.parse(time) > Date.now() ? (seconds(time) as string) : `expired ${seconds(time)}`;
}
