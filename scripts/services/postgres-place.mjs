import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { say } from './progress.mjs';

/** Folder for Postgres' programs and data if its user can't enter the clone or GANTRY_HOME. */
const SHARED = '/var/lib/gantry';

/** File beside data that is not in its home, with the path that links to it. */
const OWNER = 'home';

/** @typedef {{ name: string, uid: number, gid: number }} User */

/**
 * Whether a user can enter the folders on the way to a path, and the path itself.
 * @param {string} path
 * @param {User} user
 */
function isReachable(path, { uid, gid }) {
  const { status } = spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { uid, gid, cwd: '/' });
  return status === 0;
}

/**
 * The programs themselves, or else a copy that the user can reach, kept for later starts.
 * @param {string} native folder of the programs and their libraries
 * @param {string} version names the copy
 * @param {User} user
 * @param {string} shared
 */
function reachablePrograms(native, version, user, shared) {
  if (isReachable(join(native, 'bin', 'postgres'), user)) return native;
  const copy = join(shared, `postgres-${version}`);
  if (!existsSync(copy)) {
    say('postgres', `copying its programs to ${copy}: ${user.name} can't reach ${native}`);
    const draft = `${copy}.${process.pid}`;
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(draft, copy); // The rename is atomic: a folder that exists is complete.
    } catch (error) {
      rmSync(draft, { recursive: true });
      if (!existsSync(copy)) throw error; // Otherwise another start has just created it.
    }
  }
  return copy;
}

/**
 * The folder itself, or else the one that it then is a link to.
 * @param {string} directory
 * @param {User} user
 * @param {string} shared
 */
function reachableDirectory(directory, user, shared) {
  const own = join(shared, `data-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`);
  const target = targetOf(directory);
  if (target !== undefined) return linkedDirectory(directory, target, own);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chownSync(directory, user.uid, user.gid);
  if (isReachable(directory, user)) return directory;
  if (existsSync(join(directory, 'data'))) {
    throw new Error(
      `Postgres runs as ${user.name} when Gantry is started as root, and ${user.name} can't enter a folder on the way to ` +
        `${directory}, where its data is. Let every user enter these folders, or start Gantry as an ordinary user.`,
    );
  }
  if (existsSync(join(own, 'data'))) {
    rmSync(directory, { recursive: true }); // It is empty, and in the way of a link.
    const owner = ownerOf(own);
    if (owner !== undefined && targetOf(owner) === own) {
      throw new Error(`${own} has the database of ${dirname(owner)}, which was here before. Set another GANTRY_HOME.`);
    }
    throw new Error(
      `${own} has the database of a Gantry whose home was ${dirname(directory)}. Delete that folder to start afresh. To use ` +
        `the database again, put the secrets.json of that home back, and make ${directory} a link to ${own}.`,
    );
  }
  say('postgres', `keeping its data in ${own}: ${user.name} can't enter a folder on the way to ${directory}`);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  chownSync(own, user.uid, user.gid);
  rmSync(directory, { recursive: true });
  symlinkSync(own, directory);
  writeFileSync(join(own, OWNER), directory);
  return own;
}

/**
 * Reads where a link leads; undefined for a path that is none.
 * @param {string} path
 */
function targetOf(path) {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
  return existsSync(path) ? realpathSync(path) : readlinkSync(path);
}

/**
 * The path in a home that links to a folder with data, as far as is recorded.
 * @param {string} folder
 */
function ownerOf(folder) {
  const record = join(folder, OWNER);
  return existsSync(record) ? readFileSync(record, 'utf8') : undefined;
}

/**
 * The folder that a home links to, unless it is another home's: two servers can't have one database, and a copied link is no copy.
 * @param {string} directory
 * @param {string} target
 * @param {string} own the folder that was made for this home, if one was
 */
function linkedDirectory(directory, target, own) {
  if (!existsSync(target)) {
    throw new Error(
      `${directory} is a link to ${target}, where the database was. That folder is not here: copy it as well.`,
    );
  }
  const owner = target === own ? directory : ownerOf(target);
  if (owner !== undefined && owner !== directory && targetOf(owner) === target) {
    throw new Error(
      `${directory} is a link to the database of ${dirname(owner)}, in ${target}. Copy a stopped Gantry with cp -aL, which copies ` +
        `the database and not the link, to where every user can enter the folders on the way.`,
    );
  }
  // The home was moved, or the folder is of an earlier release.
  writeFileSync(join(target, OWNER), directory);
  return target;
}

/**
 * Folders of the programs and of the data that the user who runs Postgres can reach, whatever folder the clone and
 * GANTRY_HOME are in. Called by root alone: Postgres refuses to run as root, and its user may be locked out of both.
 * @param {{ native: string, version: string, directory: string, user: User, shared?: string }} options
 * @returns {{ native: string, directory: string }}
 */
export function reachablePlace({ native, version, directory, user, shared = SHARED }) {
  mkdirSync(shared, { recursive: true, mode: 0o755 });
  return {
    native: reachablePrograms(native, version, user, shared),
    directory: reachableDirectory(directory, user, shared),
  };
}
