import { ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeptOutput } from './kept-output';

/** Root of the build to test, by default that of this working tree. */
export const DIST = process.env.GANTRY_TEST_DIST ?? join(__dirname, '..', '..', 'dist');
export const API_PROGRAM = join(DIST, 'src', 'main.js');
export const WORKER_PROGRAM = join(DIST, 'worker', 'main.js');

const READY_MS = 90_000;
const STOP_MS = 40_000;
const TICKS_PER_SECOND = 100;

declare global {
  /** Processor time of processes that end without a parent to wait for them; test-environment.cjs adds it to the file's. */
  var gantryOrphanSeconds: number;
}

/** Processes of graphs that a process of Gantry has at this moment. */
export function graphProcessesOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

function processorSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) / TICKS_PER_SECOND;
}

/** A process of Gantry as it is deployed: the built program, which reports by IPC when it is ready. */
export class GantryProcess {
  private readonly kept: KeptOutput;
  private readonly exited: Promise<unknown>;
  private readonly ready: Promise<void>;

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
  ) {
    this.exited = once(child, 'exit');
    this.kept = new KeptOutput(`${name} ${child.pid}`, [child.stdout, child.stderr]);
    this.ready = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(this.failure(`is not ready after ${READY_MS / 1000} s`)), READY_MS);
      child.on('message', (message) => {
        if ((message as { type?: string }).type !== 'ready') return;
        clearTimeout(timer);
        resolve();
      });
      void this.exited.then(() => {
        clearTimeout(timer);
        reject(this.failure('ended before it was ready'));
      });
    });
    // Awaited only by `start`: the early death of another process must not count as an unhandled rejection.
    this.ready.catch(() => undefined);
  }

  /** Starts a process and waits until it says that it is ready. Its working directory is this process's unless one is given. */
  static async start(name: string, script: string, env: Record<string, string>, cwd?: string): Promise<GantryProcess> {
    const started = this.launch(name, script, env, cwd);
    await started.ready;
    return started;
  }

  /** Starts a process that may refuse to start. */
  static launch(name: string, script: string, env: Record<string, string>, cwd?: string): GantryProcess {
    // Without jest's own variables, such as NODE_OPTIONS.
    const inherited = Object.fromEntries(
      ['PATH', 'HOME', 'TMPDIR', 'LANG', 'GANTRY_LOG_LEVEL', 'NODE_COMPILE_CACHE'].flatMap((key) =>
        process.env[key] === undefined ? [] : [[key, process.env[key]]],
      ),
    );
    const child = fork(script, [], {
      ...(cwd !== undefined && { cwd }),
      env: { ...inherited, ...env },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    return new GantryProcess(name, child);
  }

  get pid(): number {
    return this.child.pid!;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  get exitCode(): number | null {
    return this.child.exitCode;
  }

  get lines(): string[] {
    return this.kept.lines;
  }

  get output(): string {
    return this.lines.join('\n');
  }

  /** Sends a signal to the process and its graph processes, as freezing or waking a machine does. */
  signal(name: NodeJS.Signals): void {
    for (const pid of [...graphProcessesOf(this.pid), this.pid]) process.kill(pid, name);
  }

  /** Sends a signal that ends the process, and waits for its end. */
  async kill(name: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.isAlive) return;
    // Frozen graph processes would not notice the end of their parent.
    for (const pid of graphProcessesOf(this.pid)) {
      globalThis.gantryOrphanSeconds += processorSecondsOf(pid);
      process.kill(pid, 'SIGCONT');
    }
    this.child.kill(name);
    await this.end(STOP_MS);
  }

  /** Waits for the end of a process; one that doesn't end is killed, and that is an error. */
  async end(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), timeoutMs);
    });
    const winner = await Promise.race([this.exited, late]);
    clearTimeout(timer);
    if (winner !== 'late') return;
    // A frozen process takes no other signal than these two.
    this.child.kill('SIGCONT');
    this.child.kill('SIGKILL');
    await this.exited;
    throw this.failure(`did not end within ${timeoutMs} ms`);
  }

  private failure(what: string): Error {
    return new Error(`${this.name} (pid ${this.pid}) ${what}. Its last lines:\n${this.lines.slice(-40).join('\n')}`);
  }
}
