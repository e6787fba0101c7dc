import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../support/ports';

const run = promisify(execFile);
const MODULE = pathToFileURL(join(__dirname, '..', '..', 'scripts', 'services', 'release-download.mjs')).href;
const OLD_NODE = process.env.GANTRY_TEST_OLD_NODE;

describe('the download of a published program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-release-'));
  let server: Server;
  let url: string;
  let sha256: string;

  beforeAll(async () => {
    mkdirSync(join(folder, 'tool_v1'));
    writeFileSync(join(folder, 'tool_v1', 'tool'), '#!/bin/sh\necho "it runs"\n', { mode: 0o755 });
    await run('tar', ['-czf', 'release.tgz', 'tool_v1'], { cwd: folder });
    const archive = readFileSync(join(folder, 'release.tgz'));
    sha256 = createHash('sha256').update(archive).digest('hex');
    server = createServer((request, response) => {
      response.writeHead(request.url === '/release.tgz' ? 200 : 404).end(archive);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/release.tgz`;
  });

  afterAll(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  /** In a process of its own: jest loads no ES modules. Resolves to the program's path. */
  async function download(release: { url: string; sha256: string }, node = process.execPath): Promise<string> {
    const directory = mkdtempSync(join(folder, 'unpacked-'));
    const script = `import { downloadRelease } from ${JSON.stringify(MODULE)};
      const [release, directory] = JSON.parse(process.argv[1]);
      await downloadRelease(release, directory).then(
        (path) => process.stdout.write(path),
        (error) => { process.stderr.write(error.message); process.exitCode = 1; },
      );`;
    const given = JSON.stringify([{ ...release, path: join('tool_v1', 'tool') }, directory]);
    return (await run(node, ['--input-type=module', '-e', script, given])).stdout;
  }

  it('unpacks an archive with the right checksum', async () => {
    const program = await download({ url, sha256 });
    expect((await run(program)).stdout).toBe('it runs\n');
  });

  // Node itself is fetched by the older one that is installed.
  (OLD_NODE ? it : it.skip)('does so with an older Node', async () => {
    expect((await run(await download({ url, sha256 }, OLD_NODE))).stdout).toBe('it runs\n');
  });

  it('refuses an archive with another checksum, and names both', async () => {
    await expect(download({ url, sha256: '0'.repeat(64) })).rejects.toMatchObject({
      stderr: `${url} has the SHA-256 ${sha256} and not the pinned ${'0'.repeat(64)}: it is not used.`,
    });
  });

  it('reports the server’s answer, and a server that does not answer', async () => {
    await expect(download({ url: `${url}.other`, sha256 })).rejects.toMatchObject({
      stderr: `${url}.other answered 404.`,
    });
    const closed = `http://127.0.0.1:${await freePort()}/release.tgz`;
    await expect(download({ url: closed, sha256 })).rejects.toMatchObject({
      stderr: expect.stringContaining('ECONNREFUSED') as string,
    });
  });
});
