import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { extname, join } from 'node:path';
import type { Socket } from 'node:net';
import { LIFELINE, MESSAGES } from './parent-channel';
import { TSX_APIS } from './user-module';

/** How a process for user code is confined. */
export interface Confinement {
  /** The whole environment of the process, the kernel's copy included. */
  env: Record<string, string>;
  /** MiB that the objects of its code may take; undefined: what its language grants. */
  memoryMb?: number;
  /** Bytes of the longest message that is read of it; undefined: what any process may send. */
  messageLimitBytes?: number;
  /** User and group that it runs under; undefined: this process's own. */
  uid?: number;
  gid?: number;
  /** Whether the programs that its code starts are a group with it, which ends when it ends. */
  leadsGroup?: boolean;
}

export interface UserCodeProcess {
  child: ChildProcess;
  /** The end of a socket whose other end the process has (parent-channel.ts). */
  messages: Socket;
}

const ALLOCATOR_VARIABLES = ['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_', 'MALLOC_MMAP_THRESHOLD_'];

/**
 * A process for users' code, which exchanges messages with this one. It ends with this one: its lifeline closes, whatever its
 * code is busy with.
 * @param file the module to run, without its ending: `.ts` or `.js`, as this one has
 */
export function startUserCodeProcess(file: string, { env, memoryMb, ...rest }: Confinement): UserCodeProcess {
  const limits = memoryMb === undefined ? [] : [`--max-old-space-size=${memoryMb}`];
  return spawnUserCode(process.execPath, [...limits, ...program(file)], {
    ...rest,
    env: { ...compileCache(), ...env },
  });
}

/** A process of any language, with the two descriptors that parent-channel.ts names. */
export function spawnUserCode(
  command: string,
  args: string[],
  { env, uid, gid, leadsGroup = false }: Omit<Confinement, 'memoryMb'>,
): UserCodeProcess {
  const options: SpawnOptions = {
    env: { ...allocatorSettings(), ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'],
    detached: leadsGroup,
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  };
  const child = spawn(command, args, options);
  // Without descriptors for its pipes a child has none, and reports the reason as an event in the next turn.
  child.on('error', () => undefined);
  if (leadsGroup) child.once('exit', () => endGroupOf(child));
  if ((child.stdio as unknown) === undefined) throw new Error(`${command} can't be started: too many files are open`);
  (child.stdio[LIFELINE] as Socket).on('error', () => undefined).unref();
  return { child, messages: child.stdio[MESSAGES] as Socket };
}

function endGroupOf({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** How glibc returns freed memory to the system, as this process does. */
function allocatorSettings(): Record<string, string> {
  return Object.fromEntries(
    ALLOCATOR_VARIABLES.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** A folder for compiled code beside this process's own, which must not load what user code could have written. */
function compileCache(): Record<string, string> {
  const own = process.env.NODE_COMPILE_CACHE;
  return own ? { NODE_COMPILE_CACHE: join(own, 'user-code') } : {};
}

/** The arguments that run a module of this checkout: in a source checkout it is TypeScript too. */
function program(file: string): string[] {
  if (extname(__filename) === '.js') return [`${file}.js`];
  const [tsx, source] = [TSX_APIS.commonJs, `${file}.ts`].map((path) => JSON.stringify(path));
  return ['-e', `import(${tsx}).then(({ register }) => { register(); require(${source}); });`];
}
