import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { runCommand } from './process.mjs';

/** Time without a byte after which a download ends: a closed network may swallow the connection instead of refusing it. */
export const STALLED_MS = 20_000;

/** The archive, in the directory into which it is unpacked. */
export const ARCHIVE_FILE = 'release.tar.gz';

/**
 * A program in an archive that its makers have published.
 * @typedef {object} Release
 * @property {string} url of a .tar.gz
 * @property {string} sha256 of the archive, in hexadecimal digits
 * @property {string} path of the program in the archive
 */

/** @param {string} path */
async function sha256Of(path) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/**
 * @param {string} url
 * @param {string} file
 * @param {AbortSignal} [signal]
 */
async function download(url, file, signal) {
  // One signal for both reasons: the Node that fetches its successor may be too old for AbortSignal.any.
  const stop = new AbortController();
  const interrupt = () => stop.abort(signal?.reason);
  signal?.addEventListener('abort', interrupt, { once: true });
  if (signal?.aborted) interrupt();
  const stall = () => stop.abort(new Error(`${url} sent nothing for ${STALLED_MS / 1000} s.`));
  let timer = setTimeout(stall, STALLED_MS);
  try {
    const response = await fetch(url, { signal: stop.signal });
    if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}.`);
    const body = Readable.fromWeb(/** @type {any} */ (response.body));
    body.on('data', () => {
      clearTimeout(timer);
      timer = setTimeout(stall, STALLED_MS);
    });
    await pipeline(body, createWriteStream(file), { signal: stop.signal });
  } catch (error) {
    signal?.throwIfAborted();
    // For a failed connection, fetch only says that it failed; the cause has the reason.
    throw stop.signal.aborted ? stop.signal.reason : (error.cause ?? error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', interrupt);
  }
}

/**
 * Downloads a release and unpacks it into a directory once its checksum is right.
 * @param {Release} release
 * @param {string} directory
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of the program
 * @throws when it can't be had, or isn't what was published
 */
export async function downloadRelease({ url, sha256, path }, directory, signal) {
  const archive = join(directory, ARCHIVE_FILE);
  await download(url, archive, signal);
  const found = await sha256Of(archive);
  if (found !== sha256)
    throw new Error(`${url} has the SHA-256 ${found} and not the pinned ${sha256}: it is not used.`);
  await runCommand('tar', ['-xzf', archive, '-C', directory], { signal });
  return join(directory, path);
}
