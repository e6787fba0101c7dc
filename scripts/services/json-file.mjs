import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/**
 * Readers see the old file or the new one, never half of it.
 * @param {string} path
 * @param {unknown} value
 * @param {{ mode?: number }} [options]
 */
export function writeJsonAtomically(path, value, { mode = 0o600 } = {}) {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode });
  renameSync(temporary, path);
}

/**
 * @param {string} path
 * @returns {any} undefined when the file is absent
 */
export function readJson(path) {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not valid JSON (${error.message}). Repair it, or put back a copy of it.`, {
      cause: error,
    });
  }
}
