import { execFileSync } from 'node:child_process';
import { basename } from 'node:path';

/**
 * Features, with prefixes of the names of their test files. These tests exercise processes from outside, so that no import
 * leads from them to the code.
 */
const FEATURES = {
  console: ['console'],
  'src/a2a': ['a2a'],
  'src/assistants': ['assistants', 'default-assistants'],
  'src/audit': ['audit'],
  'src/cli': ['cli'],
  'src/crons': ['cron'],
  'src/custom-app': ['custom-app', 'http-section'],
  'src/event-protocol': ['event-', 'thread-sockets', 'use-stream'],
  'src/exports': ['export'],
  'src/mcp': ['mcp'],
  'src/metrics': ['metrics', 'alerts'],
  'src/storage': ['export', 'object-stores', 'traces'],
  'src/store': ['store'],
  'src/system': ['system', 'openapi'],
  'src/threads': ['thread', 'long-threads', 'tenant-threads'],
  'src/traces': ['traces', 'tracing', 'opentelemetry'],
  'src/truncation': ['truncate'],
  'src/ui': ['generative-ui'],
  'src/webhooks': ['webhook'],
};

/** Files that no test depends on. */
const UNTESTED = /^(docs|examples|test\/bench|\.ci)\/|\.md$/;

/**
 * Files that differ from the commit at which this branch has left another one, those that git doesn't know yet among them.
 * @param {string} root
 * @param {string} branch
 */
export function changedFiles(root, branch) {
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const since = git('merge-base', 'HEAD', branch).trim();
  const changed = git('diff', '--name-only', since) + git('ls-files', '--others', '--exclude-standard');
  return changed.split('\n').filter(Boolean);
}

/**
 * The tests that changed files touch: a changed test itself; the specs that import a changed source, and the tests that
 * import a changed helper, which jest finds; and of a feature all tests that bear its name. Any other code may be part of
 * everything: then all tests run.
 * @param {string[]} changed paths from the root of the clone
 * @param {string[]} tests paths of all test files
 * @returns {{ all: string } | { tests: string[], importersOf: { specs: string[], tests: string[] } }} `all` is the file that
 *   every test may depend on
 */
export function touchedTests(changed, tests) {
  /** @type {Set<string>} */
  const found = new Set();
  /** @type {{ specs: string[], tests: string[] }} */
  const importersOf = { specs: [], tests: [] };
  for (const file of changed) {
    if (UNTESTED.test(file)) continue;
    if (tests.includes(file)) {
      found.add(file);
      continue;
    }
    if (/\.(spec|test)\.ts$/.test(file)) continue; // removed
    if (/^test\/support\/[\w-]+\.ts$/.test(file)) {
      importersOf.tests.push(file);
      continue;
    }
    const feature = Object.keys(FEATURES).find((folder) => file.startsWith(`${folder}/`));
    if (!feature) return { all: file };
    importersOf.specs.push(file);
    const names = FEATURES[/** @type {keyof typeof FEATURES} */ (feature)];
    for (const test of tests) {
      if (!test.startsWith('src/') && names.some((name) => basename(test).startsWith(name))) found.add(test);
    }
  }
  return { tests: [...found].sort(), importersOf };
}
