import { existsSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './paths.mjs';
import { SettingsError } from './settings.mjs';

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

/**
 * Prevents a second, empty Gantry in a folder that is no project, where the clone has one: earlier releases kept the data in the clone
 * for callers elsewhere too, such as a service that runs `npm --prefix`.
 * @param {string} folder the one that `callerFolder` returned
 * @param {NodeJS.ProcessEnv} env
 * @param {string} cwd
 * @throws {SettingsError}
 */
export function refuseSecondHome(folder, env = process.env, cwd = process.cwd()) {
  const [inClone, inFolder] = [cwd, folder].map((each) => join(each, '.gantry'));
  const isProject = existsSync(inFolder) || existsSync(join(folder, 'langgraph.json'));
  if (folder === cwd || env.GANTRY_HOME || isProject || !existsSync(join(inClone, 'secrets.json'))) return;
  throw new SettingsError([
    `This clone has a Gantry already, in ${inClone}. The folder of the call has none, and no langgraph.json: this would ` +
      `start a second, empty one in ${inFolder}. Set GANTRY_HOME=${inClone} for the first, or GANTRY_HOME=${inFolder} for a new one.`,
  ]);
}

/** @param {string} path */
function real(path) {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
