import { createHash, randomBytes } from 'node:crypto';
import type { ClientBase } from 'pg';

/** The token of a connection of a graph process, by which row-level security knows its tenant. */
export const TENANT_TOKEN_SETTING = 'gantry.tenant_token';
/** SQLSTATE of a statement with an invalid token: forged, expired, or of an attempt that no longer owns its run. */
export const TOKEN_REFUSED = 'GT001';

/** Lifetime of a token for reading or editing a state, after which it is useless. */
const CALL_SECONDS = 300;

/** Bytes of a block of SHA-256, up to which HMAC uses a key unchanged. */
const BLOCK_BYTES = 64;

interface Keys {
  inner: Buffer;
  outer: Buffer;
}

/** A run that a graph process may act for. */
export interface TokenOfRun {
  tenantId: string;
  runId: string;
  attempt: number;
}

/**
 * Signs tokens that graph processes show to the database, so that even with the login they can only act for tenants whose runs
 * they host. Postgres verifies them in `tenant_of_connection`, which the policies of their tables call.
 */
export class TenantTokens {
  private constructor(private readonly keys: Keys) {}

  /** Reads the key of `ensureTokenKey`. @throws if the database doesn't belong to this release */
  static async read(client: Pick<ClientBase, 'query'>): Promise<TenantTokens> {
    const { rows } = await client.query<Keys>('SELECT inner_key AS inner, outer_key AS outer FROM tenant_token_key');
    if (rows.length === 0)
      throw new Error('The database has no key for tenant tokens: migrate it to this release first');
    return new TenantTokens(rows[0]);
  }

  /** Token for the tenant's states and items while the attempt owns the run. */
  ofRun({ tenantId, runId, attempt }: TokenOfRun): string {
    return this.sign(`${tenantId}/${runId}/${attempt}`);
  }

  /** Opens the tenant's states and items for the minutes that a read or an edit may take. */
  ofCall(tenantId: string, now = new Date()): string {
    return this.sign(`${tenantId}//${Math.floor(now.getTime() / 1000) + CALL_SECONDS}`);
  }

  private sign(message: string): string {
    const { inner, outer } = this.keys;
    const digest = createHash('sha256').update(inner).update(message).digest();
    return `${message}/${createHash('sha256').update(outer).update(digest).digest('hex')}`;
  }
}

/**
 * Makes the key of tenant tokens, unless it is there, and records whose connections need one.
 * @param graphsRole the login of graph processes
 */
export async function ensureTokenKey(client: ClientBase, graphsRole: string): Promise<void> {
  const key = randomBytes(BLOCK_BYTES);
  // The two keys that HMAC derives from one: kept in this form, since SQL has no exclusive or of bytes.
  const [inner, outer] = [0x36, 0x5c].map((pad) => key.map((byte) => byte ^ pad));
  await client.query(
    `INSERT INTO tenant_token_key (inner_key, outer_key, graphs_role) VALUES ($1, $2, $3)
     ON CONFLICT (is_only) DO UPDATE SET graphs_role = EXCLUDED.graphs_role
     WHERE tenant_token_key.graphs_role IS DISTINCT FROM EXCLUDED.graphs_role`,
    [inner, outer, graphsRole],
  );
}

/** Reads the login whose connections need a token; undefined where none is recorded yet. */
export async function readGraphsRole(client: Pick<ClientBase, 'query'>): Promise<string | undefined> {
  const { rows } = await client.query<{ role: string | null }>('SELECT graphs_role AS role FROM tenant_token_key');
  return rows[0]?.role ?? undefined;
}
