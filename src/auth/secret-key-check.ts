import { type ClientBase, DatabaseError } from 'pg';
import { ConfigError } from '../config/config-error';
import { deriveKey } from '../crypto/derive-key';

const UNDEFINED_TABLE = '42P01';

/**
 * Makes sure that GANTRY_SECRET_KEY is the key with which the database is used: with another one clients are refused, stored secrets
 * count as unreadable, and the audit log as forged. The first process of a database records its key.
 * @param records false: a database without a record stays so, since a command may have the key of another one
 * @throws {ConfigError} if it is another key
 */
export async function confirmSecretKey(client: ClientBase, secretKey: Buffer, records = true): Promise<void> {
  const digest = digestOf(secretKey);
  let recorded = await readDigest(client);
  if (recorded === undefined && records) {
    await client.query('INSERT INTO secret_key_check (digest) VALUES ($1) ON CONFLICT DO NOTHING', [digest]);
    recorded = await readDigest(client);
  }
  if (recorded === undefined || recorded.equals(digest)) return;
  throw new ConfigError([
    'GANTRY_SECRET_KEY: is not the key with which this database is used. Set that key: it is in .env, or "secret_key" in ' +
      'secrets.json of the GANTRY_HOME that made the database. To replace it on purpose, see "The master key" in docs/operations.md',
  ]);
}

/** Records GANTRY_SECRET_KEY as the key of the database from now on, instead of another one. */
export async function acceptSecretKey(client: ClientBase, secretKey: Buffer): Promise<void> {
  await client.query(
    `INSERT INTO secret_key_check (digest) VALUES ($1)
     ON CONFLICT (is_only) DO UPDATE SET digest = EXCLUDED.digest`,
    [digestOf(secretKey)],
  );
}

/** Identifies a key, without anything by which it could be found. */
function digestOf(secretKey: Buffer): Buffer {
  return deriveKey(secretKey, 'gantry secret key check');
}

async function readDigest(client: ClientBase): Promise<Buffer | undefined> {
  try {
    const { rows } = await client.query<{ digest: Buffer }>('SELECT digest FROM secret_key_check');
    return rows[0]?.digest;
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== UNDEFINED_TABLE) throw error;
    throw new Error('The database does not belong to this release: migrate it first', { cause: error });
  }
}
