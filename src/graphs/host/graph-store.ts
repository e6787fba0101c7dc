import { Pool } from 'pg';
import { EncryptingClient } from '../../database/encrypting-client';
import { cutSilentConnections, KEEP_ALIVE } from '../../database/silent-connections';
import type { TenantId } from '../../database/tenant-id';
import type { TenantTokens } from '../../database/tenant-token';
import { type Embed, ItemStore } from '../../item-store/item-store';
import { StoreRepository } from '../../item-store/store.repository';
import type { ProcessData } from './protocol';
import { TenantConnections } from './tenant-connections';

/** Connections for store operations of graph processes. */
const CONNECTIONS = 4;

export interface GraphStoreOptions {
  /** Known once the database has answered. */
  data: Promise<ProcessData>;
  /** Signs tokens for the tenants whose items are reached. */
  tokens: Promise<TenantTokens>;
  embed: Embed;
}

/** The store for graphs that don't reach it themselves, with the rights of a graph process. */
export function graphStore({ data, tokens, embed }: GraphStoreOptions): (tenantId: TenantId) => Promise<ItemStore> {
  let pool: Pool | undefined;
  return async (tenantId) => {
    const { databaseUrl, store } = await data;
    const tenantToken = (await tokens).ofCall(tenantId);
    pool ??= connect(databaseUrl);
    const connections = new TenantConnections(pool, { tenantId, tenantToken });
    return new ItemStore(new StoreRepository(connections), store, embed);
  };
}

function connect(connectionString: string): Pool {
  const login = { connectionString, application_name: 'gantry-graph-store', ...KEEP_ALIVE };
  const pool = new Pool({ ...login, max: CONNECTIONS, Client: EncryptingClient });
  cutSilentConnections(pool, login);
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => undefined);
  return pool;
}
