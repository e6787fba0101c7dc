import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The clone this script belongs to, whatever the current directory is. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/**
 * Downloads and builds that take minutes are kept outside the clone, so that a second clone finds them.
 * @param {NodeJS.ProcessEnv} env
 */
export function cacheDir(env = process.env) {
  if (env.GANTRY_CACHE) return resolve(env.GANTRY_CACHE);
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gantry');
}
