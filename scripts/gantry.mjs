// npm run gantry -- keys create --name ci: administers a Gantry. `--help` lists the commands.
//
// Which one: that of DATABASE_URL; else the one that runs in GANTRY_HOME; else, when it is stopped, its database is
// started for as long as the command takes. Inside a container it is "node dist/src/cli/main.js", without this script.
import './services/runtime.mjs';
import { existsSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build, installDependencies } from './services/build.mjs';
import { callerFolder } from './services/caller-folder.mjs';
import { homeLockPath, openHome } from './services/home.mjs';
import { readJson } from './services/json-file.mjs';
import { tryLock } from './services/lock.mjs';
import { ROOT } from './services/paths.mjs';
import { choosePort } from './services/ports.mjs';
import { postgresPart } from './services/postgres.mjs';
import { runCommand } from './services/process.mjs';
import { sayTo } from './services/progress.mjs';
import { loadSecrets } from './services/secrets.mjs';
import { readSettings } from './services/settings.mjs';
import { Supervisor } from './services/supervisor.mjs';

const PROGRAM = join(ROOT, 'dist', 'src', 'cli', 'main.js');
const MIGRATE = join(ROOT, 'dist', 'src', 'database', 'migrate.js');

/**
 * Runs the command, with this terminal.
 * @param {NodeJS.ProcessEnv} env
 */
async function run(env) {
  const child = spawn(process.execPath, [PROGRAM, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
}

/** @param {string} home */
function secretKey(home) {
  return process.env.GANTRY_SECRET_KEY || readJson(join(home, 'secrets.json'))?.secret_key;
}

/**
 * Starts the database of a stopped Gantry, and stops it again.
 * @param {string} home
 * @param {(databaseUrl: string) => Promise<void>} work
 */
async function withDatabase(home, work) {
  const stop = new AbortController();
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(name, () => stop.abort());
  const lock = await openHome(home, stop.signal);
  const supervisor = new Supervisor({ home, logs: join(home, 'logs'), signal: stop.signal });
  try {
    const port = await choosePort({ setting: 'GANTRY_POSTGRES_PORT', host: '127.0.0.1', wanted: 0, usual: 0 });
    const { part, url } = await postgresPart({ home, port, password: loadSecrets(home).postgres_password });
    await supervisor.start(part);
    await runCommand(process.execPath, [MIGRATE], { cwd: ROOT, env: { ...process.env, DATABASE_URL: url } });
    await work(url);
  } finally {
    await supervisor.stop();
    lock.release();
  }
}

/** Whether a supervisor has this home, and holds it. @param {string} home */
function isRunning(home) {
  const lock = tryLock(homeLockPath(home), 'cli');
  if ('release' in lock) lock.release();
  return 'heldBy' in lock && lock.heldBy.role === 'supervisor';
}

async function main() {
  process.chdir(callerFolder());
  // Programs read the output of a command, so only that goes to stdout.
  sayTo(process.stderr);
  await installDependencies();
  await build();
  if (process.argv.length <= 2 || process.argv.some((each) => each === '--help' || each === '-h')) return run({});
  const { home, exportAllowCidrs } = readSettings();
  if (process.env.DATABASE_URL) return run({ GANTRY_SECRET_KEY: secretKey(home) });
  if (!existsSync(join(home, 'secrets.json'))) {
    throw new Error(
      `There is no Gantry in ${home} yet: "npm start" makes one. Or set DATABASE_URL and GANTRY_SECRET_KEY.`,
    );
  }
  // The rules for stores of exports are those of the api and the worker of that Gantry.
  const env = { GANTRY_SECRET_KEY: secretKey(home), GANTRY_EXPORT_ALLOW_CIDRS: exportAllowCidrs };
  if (!isRunning(home) && !existsSync(join(home, 'postgres', 'data'))) {
    throw new Error(`The Gantry in ${home} is stopped, and its database is not there but your own: set DATABASE_URL.`);
  }
  if (!isRunning(home)) return withDatabase(home, (DATABASE_URL) => run({ ...env, DATABASE_URL }));
  const endpoints = readJson(join(home, 'endpoints.json'));
  if (!endpoints) throw new Error(`The Gantry in ${home} is starting: try again when it is up.`);
  return run({ ...env, DATABASE_URL: endpoints.postgres, TEMPORAL_ADDRESS: endpoints.temporal });
}

await main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
