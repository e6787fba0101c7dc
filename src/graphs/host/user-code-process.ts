import { type ChildProcess, fork, type ForkOptions, spawn } from 'node:child_process';
import { extname, join } from 'node:path';
import type { Socket } from 'node:net';
import { TSX_APIS } from './user-module';

/** How a process for user code is confined. */
export interface Confinement {
  /** The whole environment of the process, the kernel's copy included. */
  env: Record<string, string>;
  /** MiB that its JavaScript objects may take; undefined: what Node grants. */
  memoryMb?: number;
  /** User and group that it runs under; undefined: this process's own. */
  uid?: number;
  gid?: number;
}

/**
 * A process for users' code, connected by IPC. It ends with this one: descriptor 4 closes, whatever its code is busy with.
 * @param file the module to run, without its ending: `.ts` or `.js`, as this one has
 */
export function startUserCodeProcess(file: string, { env, memoryMb, uid, gid }: Confinement): ChildProcess {
  const execArgv = memoryMb === undefined ? [] : [`--max-old-space-size=${memoryMb}`];
  const options: ForkOptions = {
    env: { ...compileCache(), ...env },
    execArgv,
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  };
  const child = extname(__filename) === '.js' ? fork(`${file}.js`, [], options) : startSource(file, execArgv, options);
  (child.stdio[4] as Socket | null)?.on('error', () => undefined).unref();
  return child;
}

/** A folder for compiled code beside this process's own, which must not load what user code could have written. */
function compileCache(): Record<string, string> {
  const own = process.env.NODE_COMPILE_CACHE;
  return own ? { NODE_COMPILE_CACHE: join(own, 'user-code') } : {};
}

/** A source checkout: the process's own code is TypeScript too. */
function startSource(file: string, execArgv: string[], options: ForkOptions): ChildProcess {
  const [tsx, source] = [TSX_APIS.commonJs, `${file}.ts`].map((path) => JSON.stringify(path));
  const bootstrap = `import(${tsx}).then(({ register }) => { register(); require(${source}); });`;
  return spawn(process.execPath, [...execArgv, '-e', bootstrap], options);
}
