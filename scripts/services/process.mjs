import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readLines } from './lines.mjs';

const KEPT_LINES = 25;
/** A failing command may print its reason first and help or a trace afterwards: both ends of its output are kept. */
const KEPT_FIRST_LINES = 10;
const LOG_ROTATE_BYTES = 20 * 1024 * 1024;

/**
 * The definition of one part of Gantry. All code that starts parts depends on this shape only.
 * @typedef {object} Part
 * @property {string} name
 * @property {string} command
 * @property {string[]} args
 * @property {string} marker a piece of the command line that no other process has
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [cwd]
 * @property {number} [uid]
 * @property {number} [gid]
 * @property {boolean} [ipc] gives the child a channel: it ends itself when the channel closes
 * @property {NodeJS.Signals} stopSignal
 * @property {number} stopGraceMs after which it is killed
 * @property {() => Promise<void>} [prepare] runs before every start
 * @property {(child: RunningPart) => Promise<void>} ready settles when the part serves
 * @property {(lines: string[]) => boolean} [worthRetrying] whether a failed first start may succeed a moment later
 */

/** A signal that is aborted when the process is asked to end: by Ctrl-C, a supervisor, or its terminal. @returns {AbortSignal} */
export function abortedWhenAskedToEnd() {
  const stop = new AbortController();
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(name, () => stop.abort());
  return stop.signal;
}

/** @typedef {{ code: number | null, signal: NodeJS.Signals | null, error?: Error }} Exit */

/** @param {Exit} exit */
export function describeExit({ code, signal, error }) {
  if (error) return `could not be started (${error.message})`;
  return signal ? `was ended by ${signal}` : `exited with code ${code}`;
}

/** A log file that is moved aside when it has grown large: one old file is kept. */
class LogFile {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
    this.open(existsSync(path) ? statSync(path).size : 0);
  }

  /** @param {number} bytes that count towards the next rotation */
  open(bytes) {
    this.bytes = bytes;
    this.stream = createWriteStream(this.path, { flags: 'a', mode: 0o600 });
    // A full disk must not end the supervisor; the last lines of the part are still kept in memory.
    this.stream.on('error', () => {});
  }

  /** @param {string} line */
  write(line) {
    // An error destroys the stream; its cause, such as a full disk, may be gone by now.
    if (this.stream.destroyed && !this.stream.writableEnded) this.open(this.bytes);
    this.stream.write(`${line}\n`);
    this.bytes += line.length + 1;
    if (this.bytes > LOG_ROTATE_BYTES) this.rotate();
  }

  rotate() {
    this.stream.end();
    try {
      renameSync(this.path, `${this.path}.1`);
    } catch {
      // An operator may have removed it. A log that can't be moved aside must not end the supervisor: it is tried again later.
    }
    this.open(0);
  }

  close() {
    this.stream.end();
  }
}

/** One run of a part, from spawn to exit. */
export class RunningPart {
  /**
   * @param {Part} part
   * @param {{ logs: string, onLine?: (name: string, line: string) => void }} options
   */
  constructor(part, { logs, onLine }) {
    this.part = part;
    /** @type {string[]} the last lines of both outputs, for the message when it dies */
    this.lines = [];
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    const log = new LogFile(join(logs, `${part.name}.log`));

    this.child = spawn(part.command, part.args, {
      cwd: part.cwd,
      env: part.env ?? process.env,
      uid: part.uid,
      gid: part.gid,
      // Its own process group: Ctrl-C in the terminal reaches the supervisor alone, which then stops parts in order.
      detached: true,
      stdio: part.ipc ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['ignore', 'pipe', 'pipe'],
    });
    const outputs = /** @type {import('node:stream').Readable[]} */ ([this.child.stdout, this.child.stderr]);
    for (const input of outputs) {
      readLines(input, (line) => {
        if (line.trim() === '') return;
        this.lines.push(line);
        if (this.lines.length > KEPT_LINES) this.lines.shift();
        log.write(line);
        onLine?.(part.name, line);
      });
    }

    /** @type {Exit | undefined} */
    this.exit = undefined;
    /** @type {Promise<Exit>} */
    this.exited = new Promise((resolve) => {
      const finish = (/** @type {Exit} */ exit) => {
        this.exit ??= exit;
        log.close();
        resolve(this.exit);
      };
      this.child.once('error', (error) => {
        if (this.child.pid === undefined) finish({ code: null, signal: null, error });
      });
      this.child.once('exit', (code, signal) => {
        this.exit = { code, signal };
        // Its last output may still be in the pipe, which a grandchild can hold open for too long.
        const timer = setTimeout(() => finish({ code, signal }), 500);
        this.child.once('close', () => {
          clearTimeout(timer);
          finish({ code, signal });
        });
      });
    });
  }

  get pid() {
    return this.child.pid;
  }

  /** Settles on the first message of that type over the channel. @param {string} type */
  message(type) {
    return /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        const listener = (/** @type {any} */ message) => {
          if (message?.type !== type) return;
          this.child.off('message', listener);
          resolve();
        };
        this.child.on('message', listener);
      })
    );
  }

  /** @param {NodeJS.Signals} signal */
  kill(signal) {
    if (!this.exit) this.child.kill(signal);
  }

  /** Asks it to stop, and kills it when it doesn't in time. */
  async stop() {
    this.kill(this.part.stopSignal);
    const timer = setTimeout(() => this.kill('SIGKILL'), this.part.stopGraceMs);
    const exit = await this.exited;
    clearTimeout(timer);
    return exit;
  }
}

/** The end is kept: that is where chained errors name the cause. @param {string} line */
function shorten(line) {
  return line.length > 160 ? `…${line.slice(-120)}` : line;
}

export class CommandError extends Error {
  /**
   * @param {string} what
   * @param {string[]} lines
   */
  constructor(what, lines) {
    super(lines.length > 0 ? `${what}. It wrote:\n${lines.map((line) => `    ${line}`).join('\n')}` : what);
    /** Shortens a list of lines for a message of one line. */
    this.lastLine = shorten(lines.at(-1) ?? what);
  }
}

/**
 * Runs a command to its end. Its whole process group is killed on abort or when the time is up.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, signal?: AbortSignal, timeoutMs?: number }} [options]
 * @returns {Promise<string[]>} the first and the last lines of its output
 */
export function runCommand(command, args, { cwd, env, signal, timeoutMs } = {}) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    /** @type {string[]} */
    const lines = [];
    for (const stream of [child.stdout, child.stderr]) {
      readLines(stream, (line) => {
        lines.push(line);
        if (lines.length > KEPT_FIRST_LINES + KEPT_LINES) lines.splice(KEPT_FIRST_LINES, 2, '…');
      });
    }
    let reason = '';
    const killGroup = () => {
      try {
        if (child.pid) process.kill(-child.pid, 'SIGKILL');
      } catch (error) {
        if (error.code !== 'ESRCH') throw error; // The process has just ended.
      }
    };
    const onAbort = () => {
      reason = 'was interrupted';
      killGroup();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer = timeoutMs
      ? setTimeout(() => {
          reason = `did not finish within ${Math.round(timeoutMs / 1000)} s`;
          killGroup();
        }, timeoutMs)
      : undefined;
    const name = `${command} ${args.slice(0, 3).join(' ')}`;
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error.code === 'ENOENT' ? new Error(`There is no program ${command} on PATH.`) : error);
    });
    child.once('close', (code, exitSignal) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      if (code === 0) resolve(lines);
      else reject(new CommandError(`${name} ${reason || describeExit({ code, signal: exitSignal })}`, lines));
    });
  });
}
