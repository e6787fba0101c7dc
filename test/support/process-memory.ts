import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const BLOCK_BYTES = 16 * 1024 * 1024;

/**
 * The writable memory of a process: heap, stack, environment and buffers, in blocks that overlap by a kilobyte.
 * Each block takes the place of the one before. Needs the rights of a debugger.
 */
export function* memoryOf(pid: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const room = Buffer.allocUnsafe(BLOCK_BYTES + 1024);
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (from === undefined) continue;
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += BLOCK_BYTES) {
        const block = room.subarray(0, Math.min(room.length, end - at));
        const length = read(memory, block, at);
        if (length > 0) yield block.subarray(0, length);
      }
    }
  } finally {
    closeSync(memory);
  }
}

function read(memory: number, block: Buffer, at: number): number {
  try {
    return readSync(memory, block, 0, block.length, at);
  } catch {
    // Some regions of the kernel's own, and those that were given back meanwhile, can't be read.
    return 0;
  }
}
