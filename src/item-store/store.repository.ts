import type { PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { storedJson } from '../database/at-rest';
import type { TenantId } from '../database/tenant-id';
import type { JsonObject } from '../database/json';
import { CHECKPOINT_SCHEMA } from '../database/schemas';
import { type Fence, FencedError, HOLDS_RUN } from '../database/fence';
import { nameLostConnection } from '../database/lost-connections';
import { ANY_LABEL, escape, fromPath, toPath } from './namespace';
import { type Bind, filterCondition } from './store-filter';
import type { ItemSearch, ItemToPut, NamespaceSearch, StoredItem } from './stored-item';

/** The interface of a pool for the store, in the api and in graph processes. */
export interface StoreConnections {
  connect(): Promise<PoolClient>;
}

interface ItemRow {
  namespace_path: string;
  key: string;
  value: JsonObject;
  created_at: Date;
  updated_at: Date;
  expires_at: Date | null;
  score: number | null;
}

const ITEMS = `"${CHECKPOINT_SCHEMA}".store`;
const EMBEDDINGS = 'store_embeddings';

const LIVE = '(s.expires_at IS NULL OR s.expires_at > now())';
/** A read right after another one would hardly extend an item's time, so it isn't written. */
const REFRESH_SHARE = 0.99;

/** A process that is frozen within a transaction would keep its lock on the run, which no other worker could take over. */
const BEGIN = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '30s'`;

/** An expired item that still exists counts as deleted: a put creates a new one. */
const UPSERT_ITEM = `
  INSERT INTO ${ITEMS} AS s (namespace_path, key, value, ttl_minutes, expires_at)
  SELECT $3, $4, $5::jsonb, $6::float8, now() + $6::float8 * interval '1 minute' WHERE EXISTS (SELECT 1 FROM fence)
  ON CONFLICT (namespace_path, key) DO UPDATE SET
    value = EXCLUDED.value, ttl_minutes = EXCLUDED.ttl_minutes, expires_at = EXCLUDED.expires_at, updated_at = now(),
    created_at = CASE WHEN ${LIVE} THEN s.created_at ELSE now() END
  RETURNING namespace_path, key`;

/**
 * The tables of LangGraph's Postgres store with the statements of Gantry: the library's match namespaces without regard to
 * where a label ends, refuse `_` and `:` in them, compare numbers as text, and know no tenant and no fence.
 * Graph threads use it as well as the api, so it stands on connections alone.
 */
export class StoreRepository {
  private vectorSchema: Promise<string | undefined> | undefined;

  constructor(private readonly connections: StoreConnections) {}

  async get(tenantId: TenantId, namespace: string[], key: string): Promise<StoredItem | null> {
    const { rows } = await this.query<ItemRow>({
      name: 'store-get',
      text: `
        SELECT namespace_path, key, value, created_at, updated_at, expires_at, NULL AS score
        FROM ${ITEMS} s WHERE tenant_id = $1 AND namespace_path = $2 AND key = $3 AND ${LIVE}`,
      values: [tenantId, toPath(tenantId, namespace), key],
    });
    return rows.length > 0 ? toItem(rows[0]) : null;
  }

  /**
   * Writes a whole item, the embeddings with it.
   * @throws {FencedError} when it is a run's write and the run has a later attempt.
   */
  async put(tenantId: TenantId, item: ItemToPut, fence?: Fence): Promise<void> {
    const values = [
      ...fenceValues(fence),
      toPath(tenantId, item.namespace),
      item.key,
      storedJson('store', 'value', JSON.stringify(item.value)),
      item.ttlMinutes,
    ];
    const { embeddings } = item;
    if (embeddings) {
      await this.transaction((client) => this.putWithEmbeddings(client, tenantId, values, embeddings, fence));
      return;
    }
    const { rowCount } = await this.query({
      name: `store-put-${fence ? 'fenced' : 'free'}`,
      text: `
        WITH fence AS MATERIALIZED (${fenceOf(fence)}),
        item AS (${UPSERT_ITEM}),
        -- Of a time when there was an index: they are not this value's.
        stale AS (
          DELETE FROM ${EMBEDDINGS} e USING item
          WHERE e.namespace_path = item.namespace_path AND e.key = item.key
        )
        SELECT 1 FROM item`,
      values,
    });
    if (rowCount === 0) throw new FencedError(fence!);
  }

  /** @throws {FencedError} when it is a run's write and the run has a later attempt. */
  async delete(tenantId: TenantId, namespace: string[], key: string, fence?: Fence): Promise<void> {
    const { rowCount } = await this.query({
      name: `store-delete-${fence ? 'fenced' : 'free'}`,
      text: `
        WITH fence AS MATERIALIZED (${fenceOf(fence)}),
        gone AS (
          DELETE FROM ${ITEMS}
          WHERE tenant_id = $3 AND namespace_path = $4 AND key = $5 AND EXISTS (SELECT 1 FROM fence)
        )
        SELECT 1 FROM fence`,
      values: [...fenceValues(fence), tenantId, toPath(tenantId, namespace), key],
    });
    if (rowCount === 0) throw new FencedError(fence!);
  }

  /** Ordered by the last write, or by similarity; items without an embedding come last. */
  async search(tenantId: TenantId, search: ItemSearch): Promise<StoredItem[]> {
    const values: unknown[] = [tenantId];
    const bind: Bind = (value) => `$${values.push(value)}`;
    const inside = inPrefix('s', tenantId, search.prefix, bind);
    const matches = filterCondition('s.value', search.filter, bind);
    const scored = search.near ? await this.similarity(search.near, bind) : '(SELECT NULL::float8 AS score)';
    const { rows } = await this.query<ItemRow>(
      `SELECT s.namespace_path, s.key, s.value, s.created_at, s.updated_at, s.expires_at, scored.score
       FROM ${ITEMS} s CROSS JOIN LATERAL ${scored} scored
       WHERE s.tenant_id = $1 AND ${inside} AND ${LIVE} AND ${matches}
       ORDER BY scored.score DESC NULLS LAST, s.updated_at DESC, s.namespace_path, s.key
       LIMIT ${bind(search.limit)} OFFSET ${bind(search.offset)}`,
      values,
    );
    return rows.map(toItem);
  }

  /** Namespaces that hold an item, sorted label by label. */
  async namespaces(tenantId: TenantId, search: NamespaceSearch): Promise<string[][]> {
    const values: unknown[] = [tenantId];
    const bind: Bind = (value) => `$${values.push(value)}`;
    const { prefix, suffix, maxDepth } = search;
    const firstAny = prefix.indexOf(ANY_LABEL);
    const inside = inPrefix('s', tenantId, firstAny < 0 ? prefix : prefix.slice(0, firstAny), bind);
    // The first label of a path is the tenant's id.
    const depth = 'cardinality(labels)';
    const conditions = [`${depth} > ${bind(Math.max(prefix.length, suffix.length))}::int`];
    prefix.forEach((label, index) => {
      if (label !== ANY_LABEL) conditions.push(`labels[${index + 2}] = ${bind(escape(label))}`);
    });
    suffix.forEach((label, index) => {
      const place = `${depth} - ${suffix.length - 1 - index}`;
      if (label !== ANY_LABEL) conditions.push(`labels[${place}] = ${bind(escape(label))}`);
    });
    const shown = maxDepth === undefined ? 'labels' : `labels[1:${bind(maxDepth)}::int + 1]`;
    const { rows } = await this.query<{ path: string }>(
      `SELECT array_to_string(shown, ':') AS path FROM (
         SELECT DISTINCT ${shown} COLLATE "C" AS shown FROM (
           SELECT DISTINCT string_to_array(s.namespace_path, ':') AS labels
           FROM ${ITEMS} s WHERE s.tenant_id = $1 AND ${inside} AND ${LIVE}
         ) namespaces WHERE ${conditions.join(' AND ')}
       ) listed
       ORDER BY shown LIMIT ${bind(search.limit)} OFFSET ${bind(search.offset)}`,
      values,
    );
    return rows.map(({ path }) => fromPath(path));
  }

  /** Deletes expired items of any tenant; resolves to their number. */
  async deleteExpired(limit: number): Promise<number> {
    const { rowCount } = await this.query(
      `DELETE FROM ${ITEMS} WHERE (namespace_path, key) IN (
         SELECT namespace_path, key FROM ${ITEMS} WHERE expires_at <= now()
         ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
       )`,
      [limit],
    );
    return rowCount ?? 0;
  }

  /** Deletes items of a tenant; resolves to their number. */
  async deleteSome(tenantId: TenantId, limit: number): Promise<number> {
    const { rowCount } = await this.query(
      `DELETE FROM ${ITEMS} WHERE (namespace_path, key) IN (
         SELECT namespace_path, key FROM ${ITEMS} WHERE tenant_id = $1
         ORDER BY namespace_path, key LIMIT $2 FOR UPDATE
       )`,
      [tenantId, limit],
    );
    return rowCount ?? 0;
  }

  /** Whether similarity is computed by pgvector; else it is by SQL over the numbers. */
  async hasVectorExtension(): Promise<boolean> {
    return (await this.findVectorSchema()) !== undefined;
  }

  private async putWithEmbeddings(
    client: PoolClient,
    tenantId: TenantId,
    values: unknown[],
    embeddings: Map<string, number[]>,
    fence?: Fence,
  ): Promise<void> {
    const { rowCount } = await client.query(
      `WITH fence AS MATERIALIZED (${fenceOf(fence)}), item AS (${UPSERT_ITEM}) SELECT 1 FROM item`,
      values,
    );
    if (rowCount === 0) throw new FencedError(fence!);
    // The item's row is locked by now, so that these see all that an earlier put of the same item has written.
    const [path, key] = values.slice(2, 4);
    await client.query(`DELETE FROM ${EMBEDDINGS} WHERE tenant_id = $1 AND namespace_path = $2 AND key = $3`, [
      tenantId,
      path,
      key,
    ]);
    if (embeddings.size === 0) return;
    await client.query(
      `INSERT INTO ${EMBEDDINGS} (tenant_id, namespace_path, key, field, embedding)
       SELECT $1, $2, $3, field, embedding::real[] FROM unnest($4::text[], $5::text[]) AS texts (field, embedding)`,
      [tenantId, path, key, [...embeddings.keys()], [...embeddings.values()].map((vector) => `{${vector.join(',')}}`)],
    );
  }

  /** One row with the best similarity of an item's embeddings to the vector. Both have length 1: it is their product. */
  private async similarity(near: number[], bind: Bind): Promise<string> {
    const schema = await this.findVectorSchema();
    const vector = bind(near);
    const product = schema
      ? `-(e.embedding::"${schema}".vector OPERATOR("${schema}".<#>) ${vector}::real[]::"${schema}".vector)`
      : `(SELECT sum(a * b) FROM unnest(e.embedding, ${vector}::float8[]) AS pairs (a, b))`;
    return `(
      SELECT max(${product}) AS score FROM ${EMBEDDINGS} e
      WHERE e.tenant_id = $1 AND e.namespace_path = s.namespace_path AND e.key = s.key
        AND cardinality(e.embedding) = ${bind(near.length)}
    )`;
  }

  /** Schema of pgvector's operators; searched once, so that installing it needs a restart. */
  private findVectorSchema(): Promise<string | undefined> {
    this.vectorSchema ??= this.query<{ schema: string }>(
      `SELECT nspname AS schema FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector'`,
    )
      .then(({ rows }) => rows[0]?.schema)
      .catch((error: unknown) => {
        this.vectorSchema = undefined;
        throw error;
      });
    return this.vectorSchema;
  }

  /** Restarts the time to live of items that were read. */
  async refresh(tenantId: TenantId, items: StoredItem[]): Promise<void> {
    const mortal = items
      .filter(({ expiresAt }) => expiresAt !== null)
      .map(({ namespace, key }) => ({ path: toPath(tenantId, namespace), key }));
    if (mortal.length === 0) return;
    // In the order of the keys, so that two searches never deadlock.
    mortal.sort((a, b) => compare(a.path, b.path) || compare(a.key, b.key));
    await this.query(
      `UPDATE ${ITEMS} SET expires_at = now() + ttl_minutes * interval '1 minute'
       WHERE (namespace_path, key) IN (
         SELECT s.namespace_path, s.key FROM ${ITEMS} s
         JOIN unnest($2::text[], $3::text[]) AS read (namespace_path, key) USING (namespace_path, key)
         WHERE s.tenant_id = $1 AND ${LIVE}
           AND s.expires_at < now() + s.ttl_minutes * ${REFRESH_SHARE} * interval '1 minute'
         ORDER BY s.namespace_path, s.key FOR NO KEY UPDATE OF s
       )`,
      [tenantId, mortal.map(({ path }) => path), mortal.map(({ key }) => key)],
    );
  }

  private async query<R extends QueryResultRow>(
    statement: string | QueryConfig,
    values?: unknown[],
  ): Promise<QueryResult<R>> {
    const client = await this.connections.connect();
    try {
      return await client.query<R>(statement, values);
    } catch (error) {
      throw nameLostConnection(error);
    } finally {
      // One that has broken is not taken back by its pool.
      client.release();
    }
  }

  private async transaction(work: (client: PoolClient) => Promise<void>): Promise<void> {
    const client = await this.connections.connect();
    let broken: Error | undefined;
    try {
      await client.query(BEGIN);
      await work(client);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: Error) => {
        broken = failure;
      });
      throw nameLostConnection(error);
    } finally {
      client.release(broken);
    }
  }
}

/** The fence's parameters; without a run the statements keep their places for id and attempt. */
function fenceOf(fence: Fence | undefined): string {
  return fence ? HOLDS_RUN : 'SELECT 1 WHERE $1::uuid IS NULL AND $2::int IS NULL';
}

function fenceValues(fence: Fence | undefined): [string | null, number | null] {
  return fence ? [fence.runId, fence.attempt] : [null, null];
}

/** A namespace and all below it; `;` is the character after `:`, so that this is two ranges of one index. */
function inPrefix(alias: string, tenantId: TenantId, prefix: string[], bind: Bind): string {
  const path = toPath(tenantId, prefix);
  const column = `${alias}.namespace_path COLLATE "C"`;
  return `(${column} = ${bind(path)} OR (${column} >= ${bind(`${path}:`)} AND ${column} < ${bind(`${path};`)}))`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function toItem(row: ItemRow): StoredItem {
  return {
    namespace: fromPath(row.namespace_path),
    key: row.key,
    value: row.value,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    score: row.score,
  };
}
