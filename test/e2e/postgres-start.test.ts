import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const MODULE = pathToFileURL(join(__dirname, '..', '..', 'scripts', 'services', 'postgres.mjs')).href;
const STARTUP_MS = 300;
const LIFE_MS = 2_000;

/** How the wait for a server ended that was asked for a process which lives for two seconds. */
async function waitFor(answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => answer(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const script = `import { untilUsable } from ${JSON.stringify(MODULE)};
    const child = { exit: undefined };
    setTimeout(() => (child.exit = { code: 0, signal: null }), ${LIFE_MS});
    const url = new URL('postgres://postgres:x@127.0.0.1:${(server.address() as AddressInfo).port}/gantry');
    const ended = await untilUsable(url, child, ${STARTUP_MS}).then(() => 'waited', ({ message }) => message);
    process.stdout.write(ended, () => process.exit());`;
  try {
    return (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])).stdout;
  } finally {
    server.close();
  }
}

/** A server's refusal of a connection, as the protocol has it. */
function refusal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + length.length);
  return Buffer.concat([Buffer.from('E'), length, fields]);
}

describe('the start of Postgres', () => {
  it('waits for a server that recovers from a crash for as long as its process lives', async () => {
    const starting = refusal('57P03', 'the database system is starting up');
    expect(await waitFor((socket) => socket.end(starting))).toBe('waited');
  });

  it('fails when a server does not answer in time', async () => {
    expect(await waitFor((socket) => socket.destroy())).toContain('does not answer after 0.3 s');
  });
});
