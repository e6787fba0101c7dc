import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import { isLostConnection, nameLostConnection, PostgresUnreachable } from '../../database/lost-connections';
import { TENANT_SETTING } from '../../database/tenant-isolation';
import { TENANT_TOKEN_SETTING } from '../../database/tenant-token';

/** The part of a pool that LangGraph's saver uses. */
export interface PoolPart {
  connect(): Promise<PoolClient>;
  query<Row extends QueryResultRow>(statement: string, values: unknown[]): Promise<QueryResult<Row>>;
}

/** Connections that checkpoints and the store use. */
export interface Connections extends PoolPart {
  /** Executes a statement that sets the tenant of its connection itself, by the parameters of `settingTenant` after `values`. */
  querySettingTenant(statement: string, values: unknown[]): Promise<QueryResult>;
}

/**
 * SQL that sets the tenant of the connection before it evaluates an expression.
 * @param count of the statement's own parameters; the two of the tenant follow them
 * @param expression boolean
 */
export function settingTenant(count: number, expression: string): string {
  const set = [TENANT_SETTING, TENANT_TOKEN_SETTING].map(
    (setting, index) => `set_config('${setting}', $${count + index + 1}, false) IS NOT NULL`,
  );
  // CASE alone has an order that the planner keeps.
  return `CASE WHEN ${set.join(' AND ')} THEN ${expression} END`;
}

/** Tenant that a graph process works for. */
export interface TenantAccess {
  tenantId: string;
  /** Token that proves it to Postgres; absent outside of graph processes. */
  tenantToken?: string;
}

/** Time within which Postgres may come back: that of the pool of graphs in Python. */
const OUTAGE_MS = 30_000;
const RETRY_MS = 200;

/** Settings that a connection has, if it has any: those of the run or call that it served last. */
const current = new WeakMap<PoolClient, string>();

/** The connections of a graph process as one run or call sees them: row-level security shows it its tenant's rows alone. */
export class TenantConnections implements Connections {
  private readonly tenant: [id: string, token: string];
  private readonly settings: string;

  constructor(
    private readonly pool: Pool,
    { tenantId, tenantToken = '' }: TenantAccess,
  ) {
    this.tenant = [tenantId, tenantToken];
    this.settings = this.tenant.join(' ');
  }

  async connect(): Promise<PoolClient> {
    const client = await this.open();
    try {
      if (current.get(client) !== this.settings) {
        current.delete(client);
        await client.query({ name: 'gantry_tenant', text: `SELECT ${settingTenant(0, 'true')}`, values: this.tenant });
        current.set(client, this.settings);
      }
      return client;
    } catch (error) {
      client.release(error as Error);
      throw nameLostConnection(error);
    }
  }

  /** Waits for Postgres in an outage: without its write, a node that has finished would run again. */
  private async open(): Promise<PoolClient> {
    const deadline = performance.now() + OUTAGE_MS;
    for (;;) {
      try {
        return await this.pool.connect();
      } catch (error) {
        if (!isLostConnection(error)) throw nameLostConnection(error);
        if (performance.now() > deadline) throw new PostgresUnreachable((error as Error).message, { cause: error });
      }
      await sleep(RETRY_MS);
    }
  }

  async query<Row extends QueryResultRow>(statement: string, values: unknown[]): Promise<QueryResult<Row>> {
    return execute(await this.connect(), (client) => client.query<Row>(statement, values));
  }

  /** Saves the round trip that `query` needs where the connection served another run or call before. */
  async querySettingTenant(statement: string, values: unknown[]): Promise<QueryResult> {
    return execute(await this.open(), async (client) => {
      const result = await client.query(statement, [...values, ...this.tenant]);
      // A statement that fails leaves the settings as they were.
      current.set(client, this.settings);
      return result;
    });
  }
}

async function execute<Result>(client: PoolClient, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  try {
    return await work(client);
  } catch (error) {
    throw nameLostConnection(error);
  } finally {
    client.release();
  }
}
