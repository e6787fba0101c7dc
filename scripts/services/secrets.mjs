import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJsonAtomically } from './json-file.mjs';

/**
 * @typedef {object} Secrets
 * @property {string} postgres_password
 * @property {string} s3_access_key_id
 * @property {string} s3_secret_access_key
 * @property {string} api_key
 * @property {string} secret_key encrypts stored credentials; losing it makes them unreadable
 * @property {string} internal_key
 * @property {string} admin_key
 */

const GENERATORS = {
  postgres_password: () => randomBytes(24).toString('base64url'),
  s3_access_key_id: () => `GANTRY${randomBytes(7).toString('hex').toUpperCase()}`,
  s3_secret_access_key: () => randomBytes(30).toString('base64url'),
  api_key: () => `gtry_${randomBytes(32).toString('base64url')}`,
  secret_key: () => randomBytes(32).toString('base64'),
  internal_key: () => `gtry_${randomBytes(32).toString('base64url')}`,
  admin_key: () => `gtry_${randomBytes(32).toString('base64url')}`,
};

/**
 * The secrets of this home, generated once. A later version may add one: only what is missing is made.
 * @param {string} home
 * @returns {Secrets}
 */
export function loadSecrets(home) {
  const path = join(home, 'secrets.json');
  const stored = readJson(path);
  if (!stored && existsSync(join(home, 'postgres', 'data'))) {
    throw new Error(
      `${path} is gone, and the database in ${join(home, 'postgres')} can't be opened without it. ` +
        `Put the file back, or start afresh with another GANTRY_HOME.`,
    );
  }
  const secrets = { ...stored };
  for (const [name, generate] of Object.entries(GENERATORS)) secrets[name] ??= generate();
  if (Object.keys(secrets).length !== Object.keys(stored ?? {}).length) writeJsonAtomically(path, secrets);
  return secrets;
}
