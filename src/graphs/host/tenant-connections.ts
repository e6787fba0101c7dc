import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import { TENANT_SETTING } from '../../database/tenant-isolation';

/** The part of a pool that checkpoints and the store use. */
export interface Connections {
  connect(): Promise<PoolClient>;
  query<Row extends QueryResultRow>(statement: string, values: unknown[]): Promise<QueryResult<Row>>;
}

/** What a connection is set to; a round trip only where it served another tenant before. */
const current = new WeakMap<PoolClient, string>();

/** The connections of a graph process as one tenant's work sees them: row-level security shows it that tenant's rows alone. */
export class TenantConnections implements Connections {
  constructor(
    private readonly pool: Pool,
    private readonly tenantId: string,
  ) {}

  async connect(): Promise<PoolClient> {
    const client = await this.pool.connect();
    try {
      if (current.get(client) !== this.tenantId) {
        current.delete(client);
        await client.query(`SELECT set_config('${TENANT_SETTING}', $1, false)`, [this.tenantId]);
        current.set(client, this.tenantId);
      }
      return client;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  }

  async query<Row extends QueryResultRow>(statement: string, values: unknown[]): Promise<QueryResult<Row>> {
    const client = await this.connect();
    try {
      return await client.query<Row>(statement, values);
    } finally {
      client.release();
    }
  }
}
