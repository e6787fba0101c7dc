import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { isRunning } from '../../test/support/processes';
import { waitFor } from '../../test/support/wait-for';
import { CustomApp } from './custom-app';
import { CALLER_HEADER } from './custom-app.protocol';

const PYTHON = { interpreter: 'python3', importFolders: [] };

/** Longer than the system takes any variable. */
const TOO_LONG = 'x'.repeat(1_000_000);

describe('the process of http.app', () => {
  let folder: string;
  let app: CustomApp;
  const errors: unknown[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-test-'));
    jest.spyOn(Logger.prototype, 'error').mockImplementation((...args: unknown[]) => void errors.push(args));
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  });

  afterEach(async () => {
    await app?.close();
    rmSync(folder, { recursive: true });
    jest.restoreAllMocks();
  });

  const ask = (path: string, { caller = 'known', method = 'GET' } = {}): Promise<number | undefined> =>
    new Promise((resolve) => {
      request({ socketPath: app.socketPath, method, path, headers: { [CALLER_HEADER]: caller } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once('error', () => resolve(undefined))
        .end();
    });

  it.each<[string, [path: string, part: string | undefined, status: number][]]>([
    [
      'strict',
      [
        ['/plain', 'route', 200],
        ['/plain/', undefined, 404],
      ],
    ],
    [
      'lenient',
      [
        ['/plain', 'route', 200],
        ['/plain/', 'route', 200],
      ],
    ],
    [
      'ofHosts',
      [
        ['/plain', 'either', 200],
        ['/plain/', 'either', 404],
      ],
    ],
  ])('reads paths as Hono was made to: %s', async (exportName, expected) => {
    const file = join(__dirname, '..', '..', 'test', 'support', 'apps', 'hono-paths.ts');
    app = await CustomApp.start({ file, exportName }, PYTHON, { env: {} });
    for (const [path, part, status] of expected) {
      expect([path, app.routes.partOf('GET', path)]).toEqual([path, part]);
      // What it doesn't serve it passes on to the API, of which there is none here.
      expect([path, (await ask(path)) === 200]).toEqual([path, status === 200]);
      expect([path, (await ask(path, { method: 'HEAD' })) === 200]).toEqual([path, status === 200]);
    }
  });

  it('takes all headers that the api takes, and the user of a custom auth among them', async () => {
    const file = join(folder, 'app.mjs');
    writeFileSync(file, `export default ({ headers }) => new Response(headers.get('${CALLER_HEADER}').length);`);
    app = await CustomApp.start({ file, exportName: 'default' }, PYTHON, { env: {} });
    expect(await ask('/', { caller: 'x'.repeat(100_000) })).toBe(200);
  });

  it('ends with the programs that its code has started', async () => {
    const file = join(folder, 'app.mjs');
    const pidFile = join(folder, 'pid');
    writeFileSync(
      file,
      `import { spawn } from 'node:child_process';
       import { writeFileSync } from 'node:fs';
       export default () => {
         writeFileSync(${JSON.stringify(pidFile)}, String(spawn('sleep', ['600'], { stdio: 'ignore' }).pid));
         return new Response('started');
       };`,
    );
    app = await CustomApp.start({ file, exportName: 'default' }, PYTHON, { env: {} });
    expect(await ask('/')).toBe(200);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    expect(isRunning(pid)).toBe(true);
    await app.close();
    await waitFor('the end of the program', () => !isRunning(pid));
  });

  it('is started again after the system has refused to start it', async () => {
    const file = join(folder, 'app.mjs');
    writeFileSync(
      file,
      `export default ({ url }) => {
         if (url.endsWith('/die')) process.kill(process.pid, 'SIGKILL');
         return new Response('alive');
       };`,
    );
    const env: Record<string, string> = {};
    app = await CustomApp.start(
      { file, exportName: 'default' },
      { interpreter: 'python3', importFolders: [] },
      { env },
    );
    expect(await ask('/')).toBe(200);
    env.TOO_LONG = TOO_LONG;
    await ask('/die');
    await waitFor('the refusal', () => errors.length > 0, 10_000);
    // An error of another realm than that of the tests.
    const err = expect.objectContaining({ code: 'E2BIG' }) as unknown;
    expect(errors[0]).toEqual([{ err }, 'http.app could not be started again']);
    delete env.TOO_LONG;
    await waitFor('the app again', async () => (await ask('/')) === 200, 20_000);
  });
});
