import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { say } from './progress.mjs';
import { stopLeftovers } from './leftovers.mjs';
import { tryLock, waitForLock } from './lock.mjs';

/** The role of the process that cleans up after a killed supervisor. */
export const REAPER = 'reaper';

/** @param {string} home */
export function homeLockPath(home) {
  return join(home, 'gantry.lock');
}

/**
 * Takes a home for this process alone, and stops what an earlier supervisor has left running in it.
 * @param {string} home
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('./lock.mjs').Lock>}
 */
export async function openHome(home, signal) {
  try {
    mkdirSync(home, { recursive: true });
    // As root, the database runs as another user, who has to be able to enter this folder; the files in it have their own
    // modes.
    chmodSync(home, process.getuid?.() === 0 ? 0o711 : 0o700);
  } catch (error) {
    throw new Error(`GANTRY_HOME ${home} can't be used (${error.message}). Set it to a directory of your own.`, {
      cause: error,
    });
  }
  let lock = tryLock(homeLockPath(home), 'supervisor');
  if ('heldBy' in lock && lock.heldBy.role === REAPER) {
    say('gantry', 'waiting for the leftover processes of a killed Gantry to stop');
    lock = await waitForLock(homeLockPath(home), 'supervisor', { signal });
  }
  if ('heldBy' in lock) {
    throw new Error(
      `Another Gantry (process ${lock.heldBy.pid}) uses ${home}. Stop it, or set GANTRY_HOME and GANTRY_PORT ` +
        `to run a second one beside it.`,
    );
  }
  await stopLeftovers(home, (name, pid) =>
    say('gantry', `stopping ${name} (process ${pid}) of a Gantry that was killed`),
  );
  return lock;
}
