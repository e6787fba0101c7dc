import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './paths.mjs';

/**
 * The folder that relative paths of the settings start from. npm runs the scripts of this package in the clone, wherever it was
 * called (`npm --prefix ../gantry start`): the folder of the project is then the caller's. A folder of the clone itself is none.
 * @param {NodeJS.ProcessEnv} env
 * @param {string} cwd
 */
export function callerFolder(env = process.env, cwd = process.cwd()) {
  const { INIT_CWD: called, npm_package_json: npmPackage } = env;
  // Both variables are also there, with other values, in what a script of another package has started.
  if (!called || !npmPackage || real(cwd) !== real(ROOT) || real(npmPackage) !== real(join(ROOT, 'package.json'))) {
    return cwd;
  }
  const isOutside = relative(real(ROOT), real(called)).startsWith('..');
  return isOutside ? called : cwd;
}

/** @param {string} path */
function real(path) {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
