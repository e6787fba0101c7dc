import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Runs Python with the public clients of test/python/requirements.txt and gives what it prints. It inherits nothing
 * but PATH: no setting of the shell that runs the tests reaches a client.
 * @param args as on the command line: a script with its arguments, or `-c` with its text
 * @throws if it fails, with what it wrote, or takes more than five minutes
 */
export async function runPython(
  args: string[],
  env: Record<string, string> = {},
  python = testPython(),
): Promise<string> {
  const running = promisify(execFile)(python, args, {
    timeout: 300_000,
    maxBuffer: 256 * 1024 * 1024,
    env: { PATH: process.env.PATH, ...env },
  });
  const { stdout } = await running.catch((error: Error & { stdout?: string }) => {
    // Linters print their findings there.
    error.message += `\n${error.stdout ?? ''}`;
    throw error;
  });
  return stdout;
}

/** Path of the Python that has the clients. @throws if the tests were not started by `npm test` */
export function testPython(): string {
  const python = process.env.GANTRY_TEST_PYTHON;
  if (!python) throw new Error('GANTRY_TEST_PYTHON is missing: run the tests with `npm test`');
  return python;
}

/** The Python with clients of the generation before. @throws if the tests were not started by `npm run chaos` */
export function olderPython(): string {
  const python = process.env.GANTRY_TEST_OLDER_PYTHON;
  if (!python) throw new Error('GANTRY_TEST_OLDER_PYTHON is missing: run the tests with `npm run chaos`');
  return python;
}

/** The Python for graphs, with the libraries of test/python-graphs/project. @throws if the tests were not started by `npm test` */
export function pythonForGraphs(): string {
  const python = process.env.GANTRY_TEST_GRAPH_PYTHON;
  if (!python) throw new Error('GANTRY_TEST_GRAPH_PYTHON is missing: run the tests with `npm test`');
  return python;
}

/** The same with the oldest libraries that graphs may have (older.txt of that project). @throws as `pythonForGraphs` */
export function pythonForOlderGraphs(): string {
  const python = process.env.GANTRY_TEST_OLDER_GRAPH_PYTHON;
  if (!python) throw new Error('GANTRY_TEST_OLDER_GRAPH_PYTHON is missing: run the tests with `npm test`');
  return python;
}
