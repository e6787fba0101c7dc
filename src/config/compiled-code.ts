import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import Module, { createRequire, flushCompileCache } from 'node:module';
import { dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { constants, Script } from 'node:vm';

/**
 * How the api, the worker, the command line and the processes of users' code load Gantry's code. It takes up to 3,700 modules, which Node looks up,
 * reads and compiles one by one for more than a second of processor time. `npm run build` therefore puts each program into one
 * file (scripts/bundle-programs.mjs), and what V8 has compiled of it when the program is ready is kept for the next start.
 * Node's own cache (NODE_COMPILE_CACHE) serves the modules that are outside of that file; it would not do for the file itself,
 * since it keeps what is compiled when a module is loaded, and not the functions that are compiled when they are called.
 */
const PROGRAMS = join(__dirname, '..', '..', 'programs');
/** Length of the first line of a program's file, which holds the checksum of the rest. */
const CHECKSUM_LINE = '// sha256 '.length + 64;
/** Begins the names of the files with compiled code. */
const PREFIX = 'gantry-';
const KEPT_MS = 7 * 86_400_000;

interface Program {
  script: Script;
  /** Where its compiled code is kept. */
  cacheFile: string;
}

/** The program that runs, when its compiled code is to be kept. */
let uncached: Program | undefined;

type ProgramName = 'api' | 'worker' | 'cli' | 'graph-process' | 'auth-process' | 'app-process';

/**
 * Runs a program: from the one file that `npm run build` has made of it, or from its modules where there is none.
 * @param entry path of the program's first module, without its ending
 */
export function runProgram(name: ProgramName, entry: string): void {
  const file = join(PROGRAMS, `${name}.js`);
  if (!existsSync(file)) {
    createRequire(__filename)(entry);
    return;
  }
  // The bundler writes ASCII, which needs no decoding.
  const source = readFileSync(file, 'latin1');
  const folder = process.env.NODE_COMPILE_CACHE;
  const checksum = source.slice(0, CHECKSUM_LINE).split(' ').pop();
  // Code fits a version of V8 with its flags only.
  const cacheFile = folder && join(folder, `${PREFIX}${name}-${checksum}-${cachedDataVersionTag()}`);
  const script = new Script(Module.wrap(source), {
    filename: file,
    cachedData: cacheFile && existsSync(cacheFile) ? readFileSync(cacheFile) : undefined,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (cacheFile && script.cachedDataRejected !== false) uncached = { script, cacheFile };
  leaveOutWarning('vm.USE_MAIN_CONTEXT_DEFAULT_LOADER');
  const wrapped = script.runInThisContext() as (...args: unknown[]) => void;
  const module = { exports: {} };
  wrapped.call(module.exports, module.exports, createRequire(file), module, file, dirname(file));
}

/** Keeps one warning of Node's, about what is used above, out of the log of each process; others are written as they are. */
function leaveOutWarning(about: string): void {
  const emit = process.emitWarning.bind(process) as (warning: string | Error, ...rest: unknown[]) => void;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).includes(about)) emit(warning, ...rest);
  };
}

/**
 * Writes what V8 has compiled so far to the folder NODE_COMPILE_CACHE, if that is set: for the next start, also where this
 * process is killed. Called by a program that is ready.
 */
export function keepCompiledCode(): void {
  setImmediate(() => {
    flushCompileCache();
    if (uncached) keep(uncached);
    uncached = undefined;
  });
}

function keep({ script, cacheFile }: Program): void {
  const draft = `${cacheFile}.${process.pid}`;
  try {
    mkdirSync(dirname(cacheFile), { recursive: true });
    writeFileSync(draft, script.createCachedData(), { mode: 0o600 });
    renameSync(draft, cacheFile); // complete at once, for processes that start in this moment
    removeOldCode(dirname(cacheFile));
  } catch {
    // The next start compiles again, as this one did: a full or a read-only disk must not end a program that is ready.
    rmSync(draft, { force: true });
  }
}

/** Each build leaves 10 MB for each program. */
function removeOldCode(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => each.startsWith(PREFIX))) {
    const path = join(folder, name);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(path, { force: true });
  }
}
