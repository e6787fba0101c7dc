import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { commandLine } from './identity.mjs';

/** Ports promised to a part that doesn't listen yet: two parts must not be given the same one. */
const promised = new Set();

/**
 * @param {number} port
 * @param {string} host
 * @returns {Promise<boolean>}
 */
function canListen(port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * @param {number} port
 * @param {string} host
 * @param {number} [timeoutMs]
 * @returns {Promise<boolean>}
 */
export function answers(port, host, timeoutMs = 500) {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const done = (/** @type {boolean} */ result) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(timeoutMs, () => done(false));
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}

/** The address to connect to for a server that listens on `host`. @param {string} host */
export function connectHost(host) {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '::1';
  return host;
}

/**
 * @param {number} port
 * @param {string} host
 */
async function isFree(port, host) {
  // Some systems let a second server listen on a narrower address than the first, so it also tries to connect.
  return !promised.has(port) && (await canListen(port, host)) && !(await answers(port, connectHost(host)));
}

/** @param {number} port @returns {string} words to put in a message, empty when unknown */
function holderOf(port) {
  try {
    const pid = process.platform === 'linux' ? listeningPid(port) : lsofPid(port);
    return pid ? ` by process ${pid} (${commandLine(pid).slice(0, 120)})` : '';
  } catch {
    return ''; // a message without the holder is better than none
  }
}

/** @param {number} port */
function listeningPid(port) {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  const listening = '0A';
  const inodes = new Set();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(table, 'utf8').split('\n').slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
      if (local?.endsWith(`:${hexPort}`) && state === listening) inodes.add(`socket:[${inode}]`);
    }
  }
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const found = readdirSync(`/proc/${pid}/fd`).some((fd) => inodes.has(readlinkSync(`/proc/${pid}/fd/${fd}`)));
      if (found) return Number(pid);
    } catch {
      continue; // another user's process, or one that has just ended
    }
  }
  return undefined;
}

/** @param {number} port */
function lsofPid(port) {
  const output = execFileSync('lsof', ['-nP', '-t', `-iTCP:${port}`, '-sTCP:LISTEN'], { encoding: 'utf8' });
  return Number(output.split('\n')[0]) || undefined;
}

/**
 * A free port outside the range from which systems take the local ports of outgoing connections (from 32768 on
 * Linux, 49152 elsewhere): one from that range could be taken between this look and the server's start.
 * @param {string} host
 */
export async function freePort(host) {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (await isFree(port, host)) {
      promised.add(port);
      return port;
    }
  }
  throw new Error(`No free port between 20000 and 32000 on ${host}.`);
}

/**
 * Which port a part gets. A port that was asked for is given or refused, never replaced by another.
 * @param {{ setting: string, host: string, wanted: number | undefined, usual: number, strict?: boolean }} request
 * `strict`: the usual port is as binding as one that was asked for.
 */
export async function choosePort({ setting, host, wanted, usual, strict = false }) {
  if (wanted === 0) return freePort(host);
  const port = wanted ?? usual;
  if (await isFree(port, host)) {
    promised.add(port);
    return port;
  }
  if (wanted === undefined && !strict) return freePort(host);
  throw new Error(
    `Port ${port} on ${host} is taken${holderOf(port)}. Stop that process, or set ${setting} to another port ` +
      `(0 takes any free one).`,
  );
}
