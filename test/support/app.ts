import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const APPS = join(__dirname, '..', 'apps');
const CACHE = join(tmpdir(), `gantry-test-apps-${process.getuid?.() ?? 0}`);
const run = promisify(execFile);

/**
 * An application of test/apps as its users have it: in a folder of its own, with packages of its own. They are installed once
 * for each lock file and kept for the next test.
 * @param variant folder in the application's that names its packages, where there are several
 * @returns the path of its langgraph.json
 */
export async function installApp(name: string, variant = ''): Promise<string> {
  const source = join(APPS, name);
  const packages = await installPackages(name, variant);
  const folder = appFolder(name + variant);
  rmSync(folder, { recursive: true, force: true });
  cpSync(source, folder, { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  symlinkSync(packages, join(folder, 'node_modules'));
  return join(folder, 'langgraph.json');
}

/** Where this process lays an application out. */
export const appFolder = (name: string): string => join(CACHE, `${name}-${process.pid}`);

/** Installs the packages of an application alone, and resolves to their folder. */
export async function installPackages(name: string, variant = ''): Promise<string> {
  const source = join(APPS, name, variant);
  const lock = readFileSync(join(source, 'package-lock.json'));
  const folder = join(CACHE, createHash('sha256').update(lock).digest('hex').slice(0, 16));
  if (existsSync(folder)) return join(folder, 'node_modules');
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const settings = existsSync(join(source, '.npmrc')) ? ['.npmrc'] : [];
  for (const file of ['package.json', 'package-lock.json', ...settings]) cpSync(join(source, file), join(draft, file));
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: draft });
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another test was faster.
    if (!existsSync(folder) || readdirSync(folder).length === 0) throw error;
    rmSync(draft, { recursive: true });
  }
  return join(folder, 'node_modules');
}
