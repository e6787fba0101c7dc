import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeptOutput } from './kept-output';
import { waitFor } from './wait-for';

const ROOT = join(__dirname, '..', '..');
const UP_MS = 180_000;
const STOP_MS = 60_000;

/** The contents of the file that `npm start` writes for scripts and tests. */
export interface Endpoints {
  api: string;
  docs: string;
  console: string | null;
  temporal: string;
  temporal_ui: string | null;
  postgres: string;
  /** Null where there is no gateway. */
  s3: { endpoint: string; bucket: string; region: string; access_key_id: string; secret_access_key: string } | null;
  api_key: string;
  tenant_id: string;
  pids: Record<string, number>;
}

/** Gantry as a user starts it: the supervisor, in a home of its own. What `env` doesn't bring, it starts itself. */
export class SupervisedGantry {
  private output = '';

  private constructor(
    readonly home: string,
    private readonly child: ChildProcess,
  ) {
    new KeptOutput(`npm start ${child.pid}`, [child.stdout, child.stderr]);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
  }

  static async start(env: Record<string, string>): Promise<SupervisedGantry> {
    const home = mkdtempSync(join(tmpdir(), 'gantry-supervised-'));
    const child = spawn(process.execPath, [join(ROOT, 'scripts', 'start.mjs')], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, GANTRY_HOME: home, GANTRY_PORT: '0', ...env },
      // With a channel, by which the supervisor notices the death of the test.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const gantry = new SupervisedGantry(home, child);
    try {
      await waitFor(
        'the banner',
        () => {
          if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}:\n${gantry.output}`);
          return gantry.output.includes('Ctrl-C stops everything') && existsSync(gantry.endpointsPath);
        },
        UP_MS,
      );
      return gantry;
    } catch (error) {
      await gantry.discard();
      throw new Error(`${String(error)}\n${gantry.output}`, { cause: error });
    }
  }

  get endpointsPath(): string {
    return join(this.home, 'endpoints.json');
  }

  get endpoints(): Endpoints {
    return JSON.parse(readFileSync(this.endpointsPath, 'utf8')) as Endpoints;
  }

  /** Its output so far. */
  get printed(): string {
    return this.output;
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Kills a part, and waits until the supervisor has it running again. */
  async killPart(name: string): Promise<void> {
    const { pids } = this.endpoints;
    process.kill(pids[name], 'SIGKILL');
    await waitFor(`${name} to run again`, () => this.endpoints.pids[name] !== pids[name], 90_000);
  }

  /** Stops it as Ctrl-C does; resolves to its exit code. */
  async stop(): Promise<number | null> {
    if (this.child.exitCode === null) {
      const exited = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_MS);
      await exited;
      clearTimeout(timer);
    }
    return this.child.exitCode;
  }

  /** Stops it, and removes its home. */
  async discard(): Promise<void> {
    await this.stop();
    rmSync(this.home, { recursive: true, force: true });
  }
}
