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

/** Folder in which this process lays out applications. */
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
  moveInto(draft, folder);
  return join(folder, 'node_modules');
}

/** Package managers beside npm: the program of each, and what installs a project exactly as its lock file says. */
const MANAGERS = {
  pnpm: { program: 'pnpm/bin/pnpm.cjs', args: ['install', '--frozen-lockfile', '--ignore-scripts'] },
  yarn: { program: '@yarnpkg/cli-dist/bin/yarn.js', args: ['install', '--immutable', '--mode=skip-build'] },
};
export type WorkspaceManager = keyof typeof MANAGERS;

/**
 * The workspace of test/apps/workspaces, installed by another package manager than npm: once for each lock file, and kept.
 * @returns the folder of the workspace
 */
export async function installWorkspace(manager: WorkspaceManager): Promise<string> {
  const source = join(APPS, 'workspaces', 'project');
  const { program, args } = MANAGERS[manager];
  const folder = join(CACHE, `${manager}-${contentHash(source)}`);
  if (existsSync(folder)) return folder;
  const programs = await installPackages('workspaces');
  const draft = `${folder}.${process.pid}`;
  cpSync(source, draft, { recursive: true });
  const { stdout: registry } = await run('npm', ['config', 'get', 'registry']);
  const env = {
    ...process.env,
    // With these variables, neither of them asks questions.
    CI: 'true',
    YARN_NPM_REGISTRY_SERVER: registry.trim(),
    YARN_GLOBAL_FOLDER: join(CACHE, 'yarn'),
    npm_config_store_dir: join(CACHE, 'pnpm'),
  };
  await run(process.execPath, [join(programs, program), ...args], { cwd: draft, env });
  moveInto(draft, folder);
  return folder;
}

function contentHash(folder: string): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) hash.update(readFileSync(join(entry.parentPath, entry.name)));
  }
  return hash.digest('hex').slice(0, 16);
}

function moveInto(draft: string, folder: string): void {
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another test has installed it meanwhile.
    if (!existsSync(folder) || readdirSync(folder).length === 0) throw error;
    rmSync(draft, { recursive: true });
  }
}
