// npm run check: all checks that need no services, in under a minute: format, lint, types and the specs beside the code.
// Files that were checked before and haven't changed are skipped. ESLint can't always know which: a type that changed in
// another file is noticed by `npm run lint`.
import './services/runtime.mjs';
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { installDependencies } from './services/build.mjs';
import { ROOT } from './services/paths.mjs';

const CACHE = join(ROOT, 'node_modules', '.cache', 'gantry');
const program = (/** @type {string} */ path) => join(ROOT, 'node_modules', path);

/** Checks with the arguments of their programs, the longest first. @type {[name: string, ...args: string[]][]} */
const CHECKS = [
  [
    'lint',
    ...[program('eslint/bin/eslint.js'), '.', '--max-warnings', '0'],
    ...['--cache', '--cache-strategy', 'content', '--cache-location', join(CACHE, 'eslint')],
  ],
  ['language', join(ROOT, 'scripts', 'language.mjs')],
  [
    'types',
    ...[program('typescript/bin/tsc'), '--noEmit', '--incremental', '--tsBuildInfoFile', join(CACHE, 'tsbuildinfo')],
  ],
  [
    'console',
    ...[program('typescript/bin/tsc'), '--noEmit', '-p', 'console'],
    ...['--incremental', '--tsBuildInfoFile', join(CACHE, 'tsbuildinfo-console')],
  ],
  [
    'format',
    ...[program('prettier/bin/prettier.cjs'), '--check', '--log-level', 'warn', '.'],
    ...['--cache', '--cache-strategy', 'content', '--cache-location', join(CACHE, 'prettier')],
  ],
  [
    'tests',
    ...[program('jest/bin/jest.js'), '--config', join(ROOT, 'jest.config.cjs'), '--silent', '--runInBand'],
    ...['--testMatch', '**/*.spec.ts'],
  ],
];
/** Number of checks that run at once: any machine has two cores. */
const AT_ONCE = 2;

/** @param {string[]} args @returns {Promise<{ code: number | null, output: string }>} */
function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

const startedAt = Date.now();
const seconds = (/** @type {number} */ since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;
await installDependencies();
mkdirSync(CACHE, { recursive: true });
// Loaded here because it may have been installed only now.
const { default: pLimit } = await import('p-limit');
await pLimit(AT_ONCE).map(CHECKS, async ([name, ...args]) => {
  const since = Date.now();
  const { code, output } = await run(args);
  process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'}  ${name.padEnd(8)} ${seconds(since)}\n`);
  if (code === 0) return;
  process.stdout.write(`${output}\n`);
  process.exitCode = 1;
});
process.stdout.write(`${process.exitCode ? 'failed' : 'passed'} after ${seconds(startedAt)}\n`);
