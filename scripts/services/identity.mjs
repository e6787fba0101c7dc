import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * A process that can be recognised later: a bare pid may belong to a stranger by then.
 * @typedef {{ pid: number, started: string, marker: string }} Identity
 * `marker` is a piece of the command line that only our process has, such as its data directory.
 */

const hasProc = existsSync('/proc/self/stat');

/** @param {string[]} args */
function ps(args) {
  try {
    return execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return ''; // ps exits 1 when there is no such process
  }
}

/** @param {string} path */
function readProc(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/**
 * When the process was started, in whatever unit the system has; empty when there is no such process.
 * @param {number} pid
 */
function startedAt(pid) {
  if (!hasProc) return ps(['-o', 'lstart=', '-p', String(pid)]);
  const stat = readProc(`/proc/${pid}/stat`);
  // The second field is the name in parentheses and may contain spaces: count after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  return state === 'Z' || stat === '' ? '' : fields[19];
}

/** @param {number} pid @returns {number} 0 when unknown */
export function parentOf(pid) {
  if (!hasProc) return Number(ps(['-o', 'ppid=', '-p', String(pid)]));
  const stat = readProc(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

/** @param {number} pid */
export function commandLine(pid) {
  if (!hasProc) return ps(['-o', 'command=', '-p', String(pid)]);
  return readProc(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
}

/**
 * @param {number} pid
 * @param {string} marker
 * @returns {Identity}
 */
export function identify(pid, marker) {
  return { pid, started: startedAt(pid), marker };
}

/** @param {Identity | undefined} identity */
export function isAlive(identity) {
  if (!identity || !Number.isInteger(identity.pid)) return false;
  const started = startedAt(identity.pid);
  return started !== '' && started === identity.started && commandLine(identity.pid).includes(identity.marker);
}
