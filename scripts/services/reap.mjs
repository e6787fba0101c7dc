// Run by the reaper's shell after a supervisor was killed: node reap.mjs <GANTRY_HOME>
import { stopLeftovers } from './leftovers.mjs';
import { homeLockPath, REAPER } from './home.mjs';
import { tryLock } from './lock.mjs';

const [home] = process.argv.slice(2);
const lock = tryLock(homeLockPath(home), REAPER);
// A new supervisor that was faster does this itself.
if ('release' in lock) {
  await stopLeftovers(home);
  lock.release();
}
