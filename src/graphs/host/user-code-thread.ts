import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { TSX_APIS } from './user-module';

/**
 * A thread for users' code; its own code imports theirs by `importExport`.
 * @param file the module to run, without its ending: `.ts` or `.js`, as this one has
 * @param env the whole environment of the thread: nothing of the process's own comes with it
 */
export function startUserCodeThread(file: string, workerData: unknown, env: Record<string, string>): Worker {
  const options = { workerData, env };
  if (extname(__filename) === '.js') return new Worker(`${file}.js`, options);
  // A source checkout: the thread's own code is TypeScript too.
  const [tsx, source] = [TSX_APIS.commonJs, `${file}.ts`].map((path) => JSON.stringify(path));
  const bootstrap = `import(${tsx}).then(({ register }) => { register(); require(${source}); });`;
  return new Worker(bootstrap, { ...options, eval: true });
}
