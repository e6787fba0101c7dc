import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { waitFor } from '../../test/support/wait-for';
import { CustomApp } from './custom-app';

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

  const ask = (path: string): Promise<number | undefined> =>
    new Promise((resolve) => {
      request({ socketPath: app.socketPath, path }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once('error', () => resolve(undefined))
        .end();
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
