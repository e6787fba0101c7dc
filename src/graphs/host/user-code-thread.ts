import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

const TSX = dirname(require.resolve('tsx/package.json'));

/**
 * A thread for users' code, which is seldom compiled: it learns to import TypeScript before anything else.
 * @param file the module to run, without its ending: `.ts` or `.js`, as this one has
 */
export function startUserCodeThread(file: string, workerData: unknown, env: Record<string, string>): Worker {
  const href = (path: string): string => JSON.stringify(pathToFileURL(path).href);
  const bootstrap = `
    Promise.all([
      import(${href(join(TSX, 'dist/esm/api/index.mjs'))}),
      import(${href(join(TSX, 'dist/cjs/api/index.mjs'))}),
    ]).then((apis) => {
      for (const { register } of apis) register();
      return import(${href(`${file}${extname(__filename)}`)});
    });`;
  return new Worker(bootstrap, { eval: true, workerData, env: { ...process.env, ...env } });
}
