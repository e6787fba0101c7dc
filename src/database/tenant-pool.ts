import { EventEmitter } from 'node:events';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { PreparingClient } from './prepared-statements';
import { currentScope, type RequestScope } from './request-scope';
import { ACTOR_SETTING, TENANT_ROLE, TENANT_SETTING } from './tenant-isolation';

type Release = (error?: Error | boolean) => void;
type OnConnection = (error: Error | undefined, client?: PoolClient, release?: Release) => void;

/**
 * The pool that TypeORM takes its connections from: two in one.
 *
 * Inside a request, a connection has the role without rights of its own and the request's tenant in a setting, so that
 * row-level security shows it this tenant's rows and no others. Outside of requests (sweeps, activities, the start) it is
 * the database user's own. The two kinds never mix: a connection of one kind stays of this kind.
 *
 * The setting belongs to the session and is sent only when the connection served another tenant or another actor before:
 * a statement of the same caller costs no additional round trip.
 */
export class TenantPool extends EventEmitter {
  private readonly system: Pool;
  private readonly tenants: Pool;
  /** What each connection of `tenants` and `system` is set to. */
  private readonly current = new WeakMap<PoolClient, string>();

  constructor(options: PoolConfig) {
    super();
    this.system = new Pool({ ...options, Client: PreparingClient });
    this.tenants = new Pool({ ...options, Client: PreparingClient });
    for (const pool of [this.system, this.tenants]) {
      pool.on('error', (error, client) => this.emit('error', error, client));
    }
  }

  connect(callback: OnConnection): void {
    // Here and not later: a connection that is waited for arrives in the context of whoever gave it back.
    const scope = currentScope();
    const pool = scope && !scope.isAcrossTenants ? this.tenants : this.system;
    pool.connect((error, client, release) => {
      if (error || !client) return callback(error);
      this.prepare(client, scope).then(
        () => callback(undefined, client, release),
        (failure: Error) => {
          release(failure);
          callback(failure);
        },
      );
    });
  }

  get totalCount(): number {
    return this.system.totalCount + this.tenants.totalCount;
  }

  get idleCount(): number {
    return this.system.idleCount + this.tenants.idleCount;
  }

  get waitingCount(): number {
    return this.system.waitingCount + this.tenants.waitingCount;
  }

  end(callback: (error?: Error) => void): void {
    Promise.all([this.system.end(), this.tenants.end()]).then(() => callback(), callback);
  }

  private async prepare(client: PoolClient, scope: RequestScope | undefined): Promise<void> {
    const tenantId = scope?.isAcrossTenants ? '' : (scope?.tenantId ?? '');
    const actor = scope?.actor ?? '';
    const wanted = `${tenantId} ${actor}`;
    const current = this.current.get(client);
    const isTenants = scope !== undefined && !scope.isAcrossTenants;
    if (current === wanted || (current === undefined && !isTenants && actor === '')) return;
    // Unknown until the answer is there: a connection that fails half-way must not be taken for a prepared one.
    this.current.delete(client);
    const role = isTenants && current === undefined ? `set_config('role', '${TENANT_ROLE}', false), ` : '';
    await client.query({
      name: role ? 'gantry_first_scope' : 'gantry_scope',
      text: `SELECT ${role}set_config('${TENANT_SETTING}', $1, false), set_config('${ACTOR_SETTING}', $2, false)`,
      values: [tenantId, actor],
    });
    this.current.set(client, wanted);
  }
}
