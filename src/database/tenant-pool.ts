import { EventEmitter } from 'node:events';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { serverProcessOf } from '../patches/pg/connection';
import { EncryptingClient } from './encrypting-client';
import { readLogin, REQUEST_LOGIN, withLogin } from './logins';
import { rememberRefusal } from './refused-connections';
import { currentScope, type RequestScope, type SearchScope } from './request-scope';
import { cutSilentConnections } from './silent-connections';
import { ACTOR_SETTING, TENANT_SETTING } from './tenant-isolation';

type Release = (error?: Error | boolean) => void;
type OnConnection = (error: Error | undefined, client?: PoolClient, release?: Release) => void;

/** Time limit of a statement of a request, in milliseconds. */
export interface StatementTimeouts {
  requestMs: number;
  searchMs: number;
}

export interface TenantPoolConfig extends PoolConfig {
  /** URL with the role that an administrator made for requests; when absent, the role of the migrations is used. */
  requestsUrl?: string | undefined;
  /** Time limits of statements; none when absent. */
  timeouts?: StatementTimeouts | undefined;
}

const UNLIMITED: StatementTimeouts = { requestMs: 0, searchMs: 0 };
/** Settings of a connection that has served no request yet: no tenant, no actor, no time limit. */
const UNSET = '  0';

/**
 * The pool that TypeORM takes its connections from: two in one.
 *
 * Inside a request, a connection is logged in under a role without rights of its own and has the request's tenant in a
 * setting, so that row-level security shows it this tenant's rows and no others. Outside of requests (sweeps, activities,
 * the start) it is the database user's own. The two kinds never mix: neither role can become the other.
 *
 * The settings belong to the session and are sent only when the connection served another tenant, another actor or another
 * kind of work before: a statement of the same caller costs no additional round trip.
 */
export class TenantPool extends EventEmitter {
  private readonly system: Pool;
  /** Connections of requests; made with the first request, when the login is read. */
  private requests: Pool | undefined;
  private opening: Promise<Pool> | undefined;
  /** A connection of the same role for cancellations, available when all others are busy. */
  private cancels: Pool | undefined;
  /** The current settings of each connection. */
  private readonly current = new WeakMap<PoolClient, string>();

  constructor(private readonly options: TenantPoolConfig) {
    super();
    this.system = this.create({});
  }

  connect(callback: OnConnection): void {
    // Read here rather than later: a connection after a wait arrives in the context of the caller that released it.
    const scope = currentScope();
    if (!scope || scope.isAcrossTenants) this.take(this.system, scope, callback);
    else if (this.requests) this.take(this.requests, scope, callback);
    else this.open().then((pool) => this.take(pool, scope, callback), callback);
  }

  get totalCount(): number {
    return this.system.totalCount + (this.requests?.totalCount ?? 0);
  }

  get idleCount(): number {
    return this.system.idleCount + (this.requests?.idleCount ?? 0);
  }

  get waitingCount(): number {
    return this.system.waitingCount + (this.requests?.waitingCount ?? 0);
  }

  end(callback: (error?: Error) => void): void {
    Promise.all([this.system.end(), this.requests?.end(), this.cancels?.end()]).then(() => callback(), callback);
  }

  private create(login: PoolConfig): Pool {
    const options = { ...this.options, ...login };
    const pool = new Pool({ ...options, Client: EncryptingClient });
    pool.on('error', (error, client) => this.emit('error', error, client));
    cutSilentConnections(pool, options);
    return pool;
  }

  /** Shared read of the login for all waiting requests; after a failure the next request reads it again. */
  private open(): Promise<Pool> {
    this.opening ??= this.login()
      .then((connectionString) => {
        this.cancels = this.create({ connectionString, max: 1 });
        return (this.requests = this.create({ connectionString }));
      })
      .finally(() => (this.opening = undefined));
    return this.opening;
  }

  private async login(): Promise<string> {
    const { requestsUrl, connectionString = '' } = this.options;
    if (requestsUrl) return requestsUrl;
    const client = await this.system.connect().catch((error: Error) => {
      rememberRefusal(error);
      throw error;
    });
    try {
      return withLogin(connectionString, await readLogin(client, REQUEST_LOGIN));
    } finally {
      client.release();
    }
  }

  private take(pool: Pool, scope: RequestScope | undefined, callback: OnConnection): void {
    pool.connect((error, client, release) => {
      if (error) rememberRefusal(error);
      if (error || !client) return callback(error);
      this.prepare(client, scope).then(
        () => callback(undefined, client, scope?.search ? this.endsWith(scope.search, client, release) : release),
        (failure: Error) => {
          // The caller's statement has not been sent.
          rememberRefusal(failure);
          release(failure);
          callback(failure);
        },
      );
    });
  }

  /**
   * Cancels the connection's statement when the client disconnects. A connection that was cancelled is not used again: the
   * signal could reach it in the middle of another caller's statement.
   */
  private endsWith(search: SearchScope, client: PoolClient, release: Release): Release {
    let isCancelled = false;
    const stopWaiting = search.whenGone(() => {
      isCancelled = true;
      // If this fails, the statement ends at its time limit.
      this.cancels?.query('SELECT pg_cancel_backend($1)', [serverProcessOf(client)]).catch(() => undefined);
    });
    return (error) => {
      stopWaiting();
      release(isCancelled ? true : error);
    };
  }

  private async prepare(client: PoolClient, scope: RequestScope | undefined): Promise<void> {
    const tenantId = scope?.isAcrossTenants ? '' : (scope?.tenantId ?? '');
    const actor = scope?.actor ?? '';
    const { requestMs, searchMs } = this.options.timeouts ?? UNLIMITED;
    const timeoutMs = !scope || scope.isAcrossTenants ? 0 : scope.search ? searchMs : requestMs;
    const wanted = `${tenantId} ${actor} ${timeoutMs}`;
    if ((this.current.get(client) ?? UNSET) === wanted) return;
    await client.query({
      name: 'gantry_scope',
      text: `SELECT set_config('${TENANT_SETTING}', $1, false), set_config('${ACTOR_SETTING}', $2, false),
                    set_config('statement_timeout', $3, false)`,
      values: [tenantId, actor, String(timeoutMs)],
    });
    this.current.set(client, wanted);
  }
}
