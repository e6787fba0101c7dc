import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { readJson, writeJsonAtomically } from './json-file.mjs';
import { waitForLock } from './lock.mjs';
import { ROOT } from './paths.mjs';
import { runCommand } from './process.mjs';
import { say, sayWhile } from './progress.mjs';

/** Files and folders that determine the result of the build. */
const SOURCES = [
  'src',
  'workflows',
  'activities',
  'worker',
  'scripts/compile.mjs',
  'scripts/bundle-programs.mjs',
  'scripts/bundle-workflows.mjs',
  'scripts/build-console.mjs',
  'console',
  'package-lock.json',
  'swc.config.json',
];
const STAMP = join(ROOT, 'dist', 'build-stamp.json');

/** @param {string} path @returns {string[]} */
function filesUnder(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)));
}

/**
 * Digest of the content of files, since a checkout changes times without changing files.
 * @param {string[]} sources files and folders
 */
export function sourceHash(sources = SOURCES) {
  const hash = createHash('sha256');
  for (const path of sources.flatMap((source) => filesUnder(join(ROOT, source)))) {
    hash
      .update(`${relative(ROOT, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return hash.digest('hex');
}

/** @param {string} sources */
export function writeBuildStamp(sources) {
  writeJsonAtomically(STAMP, { sources }, { mode: 0o644 });
}

/**
 * Whether node_modules holds what the lock file asks for. npm keeps a list of what it has installed; packages for
 * other platforms are absent from it by right.
 */
function isInstalled() {
  const installed = readJson(join(ROOT, 'node_modules', '.package-lock.json'))?.packages;
  const wanted = readJson(join(ROOT, 'package-lock.json'))?.packages;
  if (!installed || !wanted) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '' || entry.optional || entry.devOptional || entry.link) return true;
    return installed[path]?.version === entry.version;
  });
}

/**
 * Takes the lock of this clone, so that two starts don't install or build at the same time.
 * @param {AbortSignal} [signal]
 */
function cloneLock(signal) {
  const name = createHash('sha256').update(ROOT).digest('hex').slice(0, 16);
  return waitForLock(join(tmpdir(), `gantry-${process.getuid?.() ?? 0}`, `${name}.lock`), 'builder', {
    signal,
    onWait: ({ pid }) => say('build', `process ${pid} installs or builds here already; waiting for that`),
  });
}

/** @param {AbortSignal} [signal] */
export async function installDependencies(signal) {
  if (isInstalled()) return;
  const lock = await cloneLock(signal);
  try {
    if (isInstalled()) return;
    // --include=dev: the compiler is one of them, and NODE_ENV=production would leave it out.
    const command = existsSync(join(ROOT, 'package-lock.json')) ? 'ci' : 'install';
    const npm = (/** @type {string[]} */ ...options) =>
      runCommand('npm', [command, '--include=dev', '--no-audit', '--no-fund', '--loglevel=error', ...options], {
        cwd: ROOT,
        signal,
      });
    await sayWhile('npm', `installing dependencies (npm ${command})`, async () => {
      try {
        // The lock file names versions and checksums: asking the registry whether it has newer ones takes half of the time.
        await npm('--prefer-offline');
      } catch (error) {
        if (signal?.aborted) throw error;
        // npm's cache may be too old to know a version.
        await npm();
      }
    });
  } finally {
    lock.release();
  }
}

/** @param {AbortSignal} [signal] */
export async function build(signal) {
  const isBuilt = () => readJson(STAMP)?.sources === sourceHash();
  if (isBuilt()) return;
  const lock = await cloneLock(signal);
  try {
    if (isBuilt()) return;
    const sources = sourceHash(); // Read before the build, so that an edit during it counts as newer.
    await sayWhile('build', 'compiling (npm run build)', () =>
      runCommand('npm', ['run', 'build'], { cwd: ROOT, signal }),
    );
    writeBuildStamp(sources);
  } finally {
    lock.release();
  }
}
