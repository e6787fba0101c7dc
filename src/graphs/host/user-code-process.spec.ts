import { closeSync, openSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { spawnUserCode } from './user-code-process';

/** Opens files until no more can be. */
function openAll(): number[] {
  const open: number[] = [];
  for (;;) {
    try {
      open.push(openSync('/dev/null', 'r'));
    } catch {
      return open;
    }
  }
}

describe('a process for user code', () => {
  it('that can’t be started for want of file descriptors is an error, and not the end of this process', async () => {
    const stray: unknown[] = [];
    const note = (error: unknown): void => void stray.push(error);
    const open = openAll();
    try {
      expect(() => spawnUserCode(process.execPath, ['--version'], { env: {} })).toThrow('too many files are open');
    } finally {
      open.forEach(closeSync);
    }
    process.once('uncaughtException', note);
    await nextTurn();
    process.off('uncaughtException', note);
    expect(stray).toEqual([]);
  });
});
