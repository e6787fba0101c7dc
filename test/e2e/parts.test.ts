import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const SERVICES = pathToFileURL(join(__dirname, '..', '..', 'scripts', 'services')).href;
const MIB = 2 ** 20;

/** The processes of Gantry as their supervisor runs them, in a process of its own: jest loads no ES modules. */
describe('the supervisor of parts', () => {
  let home: string;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'gantry-parts-'));
  });

  afterEach(() => rmSync(home, { recursive: true }));

  /** Runs a module that has the services' exports by name; resolves to what it prints. */
  async function run(script: string): Promise<string> {
    const file = (name: string): string => JSON.stringify(`${SERVICES}/${name}.mjs`);
    const text = `
      import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
      import { setTimeout as sleep } from 'node:timers/promises';
      import { writeJsonAtomically } from ${file('json-file')};
      import { RunningPart, runCommand } from ${file('process')};
      import { Supervisor } from ${file('supervisor')};
      const home = ${JSON.stringify(home)};
      const logs = home + '/logs';
      const part = (program, more) => ({
        name: 'worker', command: process.execPath, args: ['-e', program], marker: program, stopSignal: 'SIGTERM',
        stopGraceMs: 5_000, ready: async () => {}, ...more,
      });
      ${script}`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', text], {
      timeout: 60_000,
    });
    return stdout;
  }

  it('keeps one process of a part whose restart it can’t record', async () => {
    const printed = await run(`
      const pids = [];
      const signal = new AbortController().signal;
      const onRestart = () => writeJsonAtomically(home + '/removed/endpoints.json', {});
      const supervisor = new Supervisor({ home, logs, signal, onRestart });
      await supervisor.start(part('setTimeout(() => {}, 60_000)', { ready: async ({ pid }) => { pids.push(pid); } }));
      // A folder in the place of the file that is to be written.
      mkdirSync(home + '/pids.json.' + process.pid + '.tmp');
      process.kill(pids[0], 'SIGKILL');
      for (let waits = 0; pids.length < 2 && waits < 250; waits += 1) await sleep(20);
      // Longer than the pause before another start.
      await sleep(1_500);
      process.stdout.write(JSON.stringify({ pids, running: supervisor.pids().worker }) + '\\n');
      await supervisor.stop();`);
    const { pids, running } = JSON.parse(/^\{.*\}$/m.exec(printed)![0]) as { pids: number[]; running: number };
    expect(pids).toHaveLength(2);
    expect(running).toBe(pids[1]);
    expect(printed).toMatch(/worker +runs, but is not in the record of processes: EISDIR/);
    expect(printed).toMatch(/worker +runs, but its restart could not be published: ENOENT/);
    expect(printed).toMatch(/worker +stopped/);
  });

  it('pauses between attempts to start a part that had run for long', async () => {
    const printed = await run(`
      let attempts = 0;
      const prepare = async () => {
        attempts += 1;
        if (attempts > 1) throw new Error('not now');
      };
      const supervisor = new Supervisor({ home, logs, signal: new AbortController().signal });
      await supervisor.start(part('setTimeout(() => {}, 60_000)', { prepare }));
      const now = Date.now;
      Date.now = () => now() + 60_000;
      process.kill(supervisor.pids().worker, 'SIGKILL');
      await sleep(1_000);
      process.stdout.write('attempts: ' + attempts + '\\n');
      await supervisor.stop();
      process.exit();`);
    // At once, and after half a second.
    expect(printed).toMatch(/^attempts: [23]$/m);
    expect(printed).toMatch(/worker +can't be started: not now/);
  });

  it('continues with a new log where the log of a part was removed', async () => {
    // It rotates its log after 20 MiB.
    await run(`
      const program = \`setTimeout(() => {
        for (let count = 0; count < 24; count += 1) console.log(('y'.repeat(1023) + '\\\\n').repeat(1024));
        console.log('the end');
      }, 500);\`;
      const running = new RunningPart(part(program), { logs });
      while (!existsSync(logs + '/worker.log')) await sleep(20);
      rmSync(logs + '/worker.log');
      await running.exited;`);
    expect(readFileSync(join(home, 'logs', 'worker.log'), 'utf8')).toMatch(/^y+\n.*\nthe end\n$/s);
  });

  it('continues with the log of a part once it can be written again', async () => {
    // A folder in its place stands for a full disk.
    await run(`
      mkdirSync(logs + '/worker.log', { recursive: true });
      let lines = 0;
      const program = "setInterval(() => console.log('line'), 20)";
      const running = new RunningPart(part(program), { logs, onLine: () => (lines += 1) });
      while (lines < 5) await sleep(20);
      rmdirSync(logs + '/worker.log');
      for (let waits = 0; waits < 250 && !existsSync(logs + '/worker.log'); waits += 1) await sleep(20);
      await running.stop();`);
    expect(readFileSync(join(home, 'logs', 'worker.log'), 'utf8')).toMatch(/^(line\n)+$/);
  });

  it('takes long output without a line break in pieces', async () => {
    const printed = await run(`
      const program = \`process.stdout.write('é'.repeat(2_500_000) + '\\\\r\\\\n\\\\nthe end')\`;
      const lengths = [];
      const running = new RunningPart(part(program), { logs, onLine: (_, line) => lengths.push(line.length) });
      await running.exited;
      const lines = await runCommand(process.execPath, ['-e', program]);
      process.stdout.write(JSON.stringify({ lengths, command: lines.map(({ length }) => length), end: lines.at(-1) }));`);
    const pieces = [MIB, MIB, 2_500_000 - 2 * MIB];
    expect(JSON.parse(printed)).toEqual({
      lengths: [...pieces, 'the end'.length],
      command: [...pieces, 0, 'the end'.length],
      end: 'the end',
    });
  });
});
