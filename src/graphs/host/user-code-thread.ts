import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

/**
 * A thread for users' code; its own code imports theirs by `importExport`.
 * @param file the module to run, without its ending: `.ts` or `.js`, as this one has
 */
export function startUserCodeThread(file: string, workerData: unknown, env: Record<string, string>): Worker {
  const options = { workerData, env: { ...process.env, ...env } };
  if (extname(__filename) === '.js') return new Worker(`${file}.js`, options);
  // A source checkout: the thread's own code is TypeScript too.
  const href = (path: string): string => JSON.stringify(pathToFileURL(path).href);
  const tsx = join(dirname(require.resolve('tsx/package.json')), 'dist/cjs/api/index.mjs');
  const bootstrap = `import(${href(tsx)}).then(({ register }) => { register(); require(${JSON.stringify(`${file}.ts`)}); });`;
  return new Worker(bootstrap, { ...options, eval: true });
}
