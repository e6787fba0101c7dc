import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { waitFor } from '../support/wait-for';

const ROOT = join(__dirname, '..', '..');
const PROBE = join(__dirname, '..', 'support', 'runtime-probe.mjs');
const OLD_NODE = process.env.GANTRY_TEST_OLD_NODE;

interface Report {
  version: string;
  args: string[];
  pid: number;
  launcher: number | null;
}

type Command = ChildProcessByStdio<null, Readable, null>;

function startProbe(node: string, args: string[] = []): Command {
  return spawn(node, [PROBE, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function reportOf(command: Command): Promise<Report> {
  const [line] = (await once(createInterface({ input: command.stdout }), 'line')) as [string];
  return JSON.parse(line) as Report;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function majorOf(version: string): number {
  return Number(/^v(\d+)\./.exec(version)?.[1]);
}

describe('the runtime', () => {
  const commands: Command[] = [];

  function probe(node: string, args?: string[]): Command {
    const command = startProbe(node, args);
    commands.push(command);
    return command;
  }

  afterEach(() => {
    for (const command of commands.splice(0)) command.kill('SIGKILL');
  });

  it('is the Node that runs the command when that is recent enough', async () => {
    const command = probe(process.execPath);
    expect(await reportOf(command)).toMatchObject({ version: process.version, pid: command.pid, launcher: null });
  });

  // Needs a machine whose installed Node is older than Gantry's: `npm test` names it then.
  (OLD_NODE ? describe : describe.skip)('of a command that an older Node was given', () => {
    it('is otherwise the pinned Node, which gets the same arguments', async () => {
      const command = probe(OLD_NODE!, ['--port', '0']);
      const report = await reportOf(command);
      expect(majorOf(report.version)).toBeGreaterThanOrEqual(24);
      expect(report).toMatchObject({ args: ['--port', '0'], launcher: command.pid });
    });

    it('receives the signals of the command, and its exit code becomes that of the command', async () => {
      const command = probe(OLD_NODE!);
      await reportOf(command);
      const exited = once(command, 'exit');
      command.kill('SIGTERM');
      expect(await exited).toEqual([7, null]);
    });

    it('notices the death of the command', async () => {
      const command = probe(OLD_NODE!);
      const { pid } = await reportOf(command);
      command.kill('SIGKILL');
      await waitFor('the end of the process that was launched', () => !isAlive(pid));
    });

    it('is named by the doctor', async () => {
      const doctor = promisify(execFile)(OLD_NODE!, [join(ROOT, 'scripts', 'doctor.mjs')], { cwd: ROOT });
      // Without a running Gantry the doctor fails; what it printed is in the error then.
      const { stdout } = await doctor.catch((error: { stdout: string }) => error);
      expect(stdout).toMatch(/^PASS {2}node +Node 24\..*, fetched because the installed Node is older$/m);
    });
  });
});
