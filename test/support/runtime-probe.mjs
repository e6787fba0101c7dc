// Reports the runtime that it runs on, and waits for a signal or for the end of its parent.
import { launcherPid } from '../../scripts/services/runtime.mjs';

const { version, argv, pid } = process;
const stayAlive = setInterval(() => {}, 60_000);
process.on('SIGTERM', () => process.exit(7));
process.on('disconnect', () => {
  clearInterval(stayAlive);
  process.exit();
});
process.stdout.write(`${JSON.stringify({ version, args: argv.slice(2), pid, launcher: launcherPid() ?? null })}\n`);
