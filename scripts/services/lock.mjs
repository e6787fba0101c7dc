import { linkSync, mkdirSync, readFileSync, rmSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isAlive } from './identity.mjs';

/**
 * @typedef {import('./identity.mjs').Identity & { role: string }} Holder
 * @typedef {{ release: () => void }} Lock
 */

/** @param {string} path @returns {Holder | undefined} */
function readHolder(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // Removed in between: the lock has no owner.
  }
}

/** @param {string} path */
function ageMs(path) {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
  return Date.now() - mtimeMs;
}

/** @param {number} ms */
function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * Removes a lock whose owner is dead. The directory makes sure that only one process removes at a time: otherwise a
 * slow one could remove the lock that a fast one has just taken.
 * @param {string} path
 */
function removeStale(path) {
  const guard = `${path}.removing`;
  try {
    mkdirSync(guard);
  } catch {
    // Another process is removing the lock, which takes a moment, unless it was killed meanwhile.
    if (ageMs(guard) > 5_000) rmdirSync(guard);
    return;
  }
  try {
    if (!isAlive(readHolder(path))) rmSync(path, { force: true });
  } finally {
    rmdirSync(guard);
  }
}

/**
 * Takes a lock file, which a crash leaves harmlessly: it names its owner, and a dead owner doesn't count.
 * @param {string} path
 * @param {string} role what the owner does, shown to those who meet the lock
 * @returns {Lock | { heldBy: Holder }}
 */
export function tryLock(path, role) {
  mkdirSync(dirname(path), { recursive: true });
  // This script's file name is in the command line however it was started.
  const me = { ...identify(process.pid, basename(process.argv[1] ?? process.execPath)), role };
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(me), { mode: 0o644 });
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        linkSync(draft, path); // atomic, and the file is complete at once
        return { release: () => rmSync(path, { force: true }) };
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      }
      const holder = readHolder(path);
      if (holder && isAlive(holder)) return { heldBy: holder };
      if (attempt >= 500) throw new Error(`The lock ${path} cannot be taken. Remove it by hand.`);
      removeStale(path);
      pause(Math.min(attempt, 20));
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * @param {string} path
 * @param {string} role
 * @param {{ signal?: AbortSignal, onWait?: (holder: Holder) => void }} [options]
 * @returns {Promise<Lock>}
 */
export async function waitForLock(path, role, { signal, onWait } = {}) {
  for (let isReported = false; ;) {
    const result = tryLock(path, role);
    if ('release' in result) return result;
    if (!isReported) onWait?.(result.heldBy);
    isReported = true;
    await sleep(100, undefined, { signal });
  }
}
