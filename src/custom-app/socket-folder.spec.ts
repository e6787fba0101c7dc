import { spawnSync } from 'node:child_process';
import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { makeSocketFolder, removeAbandonedFolders, removeSocketFolder, type SocketFolder } from './socket-folder';

const LONG_AGO = new Date(0);

/** A folder whose process was killed while it listened. */
function abandoned(): SocketFolder {
  const sockets = makeSocketFolder({});
  const program = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', program, sockets.innerSocketPath]);
  expect(existsSync(sockets.innerSocketPath)).toBe(true);
  return sockets;
}

describe('folders of sockets', () => {
  const made: SocketFolder[] = [];
  let server: Server | undefined;

  afterEach(() => {
    server?.close();
    for (const sockets of made.splice(0)) removeSocketFolder(sockets);
  });

  it('of processes that were killed are removed, and no others', async () => {
    const [old, young, used, empty] = [abandoned(), abandoned(), makeSocketFolder({}), makeSocketFolder({})];
    made.push(old, young, used, empty);
    writeFileSync(old.socketPath, '');
    server = createServer();
    await new Promise<void>((resolve) => server!.listen(used.innerSocketPath, resolve));
    for (const { innerSocketPath } of [old, used]) utimesSync(innerSocketPath, LONG_AGO, LONG_AGO);
    await removeAbandonedFolders();
    expect([old, young, used, empty].map(({ folder }) => existsSync(folder))).toEqual([false, true, true, true]);
  });
});
