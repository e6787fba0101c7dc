import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isAlive } from './identity.mjs';
import { readJson, writeJsonAtomically } from './json-file.mjs';

/** @typedef {import('./identity.mjs').Identity & { stopSignal: NodeJS.Signals, stopGraceMs: number }} Recorded */

/** Order in which parts stop: each one before those that it depends on. */
export const STOP_ORDER = ['api', 'worker', 's3', 'temporal', 'postgres'];

/** Writes down which processes run for this home, for the case that the supervisor can't stop them itself. */
export class PidRecord {
  /** @param {string} home */
  constructor(home) {
    this.path = pidFile(home);
    /** @type {Record<string, Recorded>} */
    this.parts = {};
  }

  /** @param {import('./process.mjs').RunningPart} running */
  add({ part, pid }) {
    if (pid === undefined) return;
    const { name, marker, stopSignal, stopGraceMs } = part;
    this.parts[name] = { ...identify(pid, marker), stopSignal, stopGraceMs };
    writeJsonAtomically(this.path, this.parts);
  }

  remove() {
    rmSync(this.path, { force: true });
  }
}

/** @param {string} home */
function pidFile(home) {
  return join(home, 'pids.json');
}

/**
 * Stops what a killed supervisor has left, and only that: each pid is checked against its start time and
 * command line, since it may belong to a stranger by now.
 * @param {string} home
 * @param {(name: string, pid: number) => void} [onStop]
 */
export async function stopLeftovers(home, onStop) {
  /** @type {Record<string, Recorded> | undefined} */
  const parts = readJson(pidFile(home));
  rmSync(join(home, 'endpoints.json'), { force: true });
  if (!parts) return;
  for (const name of STOP_ORDER) {
    const recorded = parts[name];
    if (!isAlive(recorded)) continue;
    onStop?.(name, recorded.pid);
    process.kill(recorded.pid, recorded.stopSignal);
    const deadline = Date.now() + recorded.stopGraceMs;
    while (isAlive(recorded) && Date.now() < deadline) await sleep(50);
    if (isAlive(recorded)) process.kill(recorded.pid, 'SIGKILL');
    while (isAlive(recorded)) await sleep(20);
  }
  rmSync(pidFile(home), { force: true });
}

/**
 * Starts a shell that sleeps on a pipe from this process. When the pipe breaks, this process is gone without having
 * cleaned up (SIGKILL, out of memory), and the shell turns into the command.
 * @param {string[]} command
 * @returns {() => void} to be called after a clean end
 */
function onDeath(command) {
  const shell = spawn('/bin/sh', ['-c', 'read -r word || exec "$@"', 'gantry-reaper', ...command], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => {}); // Without a shell, leftover processes stay until a user ends them.
  shell.stdin.on('error', () => {});
  shell.unref();
  return () => shell.stdin.end('done\n');
}

/**
 * Stops the parts of a home when this process dies without having done it; else the next start there does.
 * @param {string} home
 * @returns {() => void} to be called after a clean stop
 */
export function startReaper(home) {
  return onDeath([process.execPath, fileURLToPath(new URL('./reap.mjs', import.meta.url)), home]);
}

/** Grace of a process group that is asked to end. */
const GROUP_GRACE_SECONDS = 15;

/**
 * Ends a process group when this process dies.
 * @param {number} group its id, which is the process id of its leader
 * @returns {() => void} to be called when the group has ended
 */
export function endGroupOnDeath(group) {
  const script = `kill -TERM "-$1"; sleep ${GROUP_GRACE_SECONDS}; kill -KILL "-$1"`;
  return onDeath(['/bin/sh', '-c', script, 'gantry-reaper', String(group)]);
}
