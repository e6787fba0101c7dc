import { chownSync, lstatSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Confinement } from '../graphs/host/user-code-process';

const PREFIX = 'gantry-app-';
/** An api listens on a socket long before it has had it for this time. */
const LISTENS_AFTER_MS = 60_000;

/** Folder of the Unix sockets between an api process and its app. */
export interface SocketFolder {
  folder: string;
  /** The app listens on it. */
  socketPath: string;
  /** The api listens on it as long as it lives. */
  innerSocketPath: string;
}

/** Makes a folder that is accessible to one user alone: connections to the sockets aren't authenticated. */
export function makeSocketFolder({ uid, gid }: Pick<Confinement, 'uid' | 'gid'>): SocketFolder {
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return socketsIn(folder);
}

/** Removes the folders of api processes that were killed. */
export async function removeAbandonedFolders(): Promise<void> {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX));
  await Promise.all(
    folders.map(async (name) => {
      const sockets = socketsIn(join(tmpdir(), name));
      if (await isAbandoned(sockets)) removeSocketFolder(sockets);
    }),
  );
}

/** Not with all that is in it: user code may have put a link there while it is removed. */
export function removeSocketFolder({ folder, socketPath, innerSocketPath }: SocketFolder): void {
  try {
    for (const path of [socketPath, innerSocketPath]) rmSync(path, { force: true });
    rmdirSync(folder);
  } catch {
    // A file in a folder for temporary ones may stay.
  }
}

const socketsIn = (folder: string): SocketFolder => ({
  folder,
  socketPath: join(folder, 'http.sock'),
  innerSocketPath: join(folder, 'api.sock'),
});

/** Whether the system says that nothing listens on the api's socket, which it does in all containers that share the folder. */
async function isAbandoned({ innerSocketPath }: SocketFolder): Promise<boolean> {
  try {
    if (Date.now() - lstatSync(innerSocketPath).mtimeMs < LISTENS_AFTER_MS) return false;
  } catch {
    // It hasn't been made yet, or the folder is another user's.
    return false;
  }
  return new Promise((resolve) => {
    const socket = connect(innerSocketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
  });
}
