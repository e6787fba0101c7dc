import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TSX_APIS } from '../../src/graphs/host/user-module';
import { isRunning } from '../support/processes';
import { pythonForGraphs } from '../support/python';
import { waitFor } from '../support/wait-for';

const SOURCE = join(__dirname, '..', '..', 'src', 'custom-app', 'custom-app.ts');

describe('the programs that an http.app has started', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-test-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it.each<[string, string, string]>([
    [
      'JavaScript',
      'app.mjs',
      `import { spawn } from 'node:child_process';
       import { writeFileSync } from 'node:fs';
       writeFileSync(process.env.PID_FILE, String(spawn('sleep', ['600'], { stdio: 'ignore' }).pid));
       export default () => new Response('started');`,
    ],
    [
      'Python',
      'app.py',
      `import os, pathlib, subprocess
from starlette.applications import Starlette
pathlib.Path(os.environ["PID_FILE"]).write_text(str(subprocess.Popen(["sleep", "600"]).pid))
app = Starlette()
`,
    ],
  ])('end when the process of the api is killed: %s', async (_, name, text) => {
    const file = join(folder, name);
    const pidFile = join(folder, 'pid');
    writeFileSync(file, text);
    const served = { file, exportName: name === 'app.py' ? 'app' : 'default' };
    const python = { interpreter: pythonForGraphs(), importFolders: [] };
    const env = { PATH: process.env.PATH!, PID_FILE: pidFile };
    const [tsx, source, args] = [TSX_APIS.commonJs, SOURCE, [served, python, { env }]].map((value) =>
      JSON.stringify(value),
    );
    const script = `import(${tsx}).then(async ({ register }) => {
      register();
      await require(${source}).CustomApp.start(...${args});
      process.send('ready');
    });`;
    const parent = spawn(process.execPath, ['-e', script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { PATH: process.env.PATH, TMPDIR: folder },
    });
    const [ready] = (await Promise.race([once(parent, 'message'), once(parent, 'exit')])) as unknown[];
    expect(ready).toBe('ready');
    const pid = Number(readFileSync(pidFile, 'utf8'));
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    await waitFor('the end of the program', () => !isRunning(pid));
  });
});
