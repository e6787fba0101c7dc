import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import { isLostConnection, nameLostConnection, PostgresUnreachable } from '../../database/lost-connections';
import { TENANT_SETTING } from '../../database/tenant-isolation';
import { TENANT_TOKEN_SETTING } from '../../database/tenant-token';

/** The part of a pool that checkpoints and the store use. */
export interface Connections {
  connect(): Promise<PoolClient>;
  query<Row extends QueryResultRow>(statement: string, values: unknown[]): Promise<QueryResult<Row>>;
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

/** Current settings of a connection; changing them costs a round trip if it served another run or call before. */
const current = new WeakMap<PoolClient, string>();

/** The connections of a graph process as one run or call sees them: row-level security shows it its tenant's rows alone. */
export class TenantConnections implements Connections {
  constructor(
    private readonly pool: Pool,
    private readonly access: TenantAccess,
  ) {}

  async connect(): Promise<PoolClient> {
    const client = await this.open();
    try {
      const { tenantId, tenantToken = '' } = this.access;
      const wanted = `${tenantId} ${tenantToken}`;
      if (current.get(client) !== wanted) {
        current.delete(client);
        await client.query({
          name: 'gantry_tenant',
          text: `SELECT set_config('${TENANT_SETTING}', $1, false), set_config('${TENANT_TOKEN_SETTING}', $2, false)`,
          values: [tenantId, tenantToken],
        });
        current.set(client, wanted);
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
    const client = await this.connect();
    try {
      return await client.query<Row>(statement, values);
    } catch (error) {
      throw nameLostConnection(error);
    } finally {
      client.release();
    }
  }
}
