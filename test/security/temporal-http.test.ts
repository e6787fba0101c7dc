import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { freePort } from '../support/ports';
import { waitFor } from '../support/wait-for';

const PART = join(__dirname, '..', 'support', 'temporal-part.mjs');
const START_MS = 120_000;

async function statusOf(port: number, host: string): Promise<number> {
  const asked = request({ host: '127.0.0.1', port, path: '/api/v1/namespaces/default/workflows', headers: { host } });
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode!;
}

it(
  'the Temporal server of npm start refuses web pages over HTTP',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'gantry-temporal-'));
    const [port, httpPort] = [await freePort(), await freePort()];
    const printed = execFileSync(process.execPath, [PART, home, String(port)], { encoding: 'utf8' });
    const { command, args } = JSON.parse(printed.slice(printed.lastIndexOf('\n'))) as {
      command: string;
      args: string[];
    };
    // Its web pages would obey any page of another site, too.
    expect(args).toContain('--headless');
    // The port, which a page would have to guess.
    const server = spawn(command, [...args, `--http-port=${httpPort}`], { stdio: 'ignore' });
    try {
      await waitFor(
        'its gRPC API',
        async () => {
          const connection = await Connection.connect({ address: `127.0.0.1:${port}` }).catch(() => undefined);
          await connection?.close();
          return connection !== undefined;
        },
        START_MS,
      );
      for (const host of [`127.0.0.1:${httpPort}`, `localhost:${httpPort}`, 'evil.example']) {
        expect([host, await statusOf(httpPort, host)]).toEqual([host, 403]);
      }
    } finally {
      server.kill('SIGKILL');
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
      rmSync(home, { recursive: true, force: true });
    }
  },
  START_MS + 30_000,
);
