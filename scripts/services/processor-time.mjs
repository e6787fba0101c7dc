import { readFileSync } from 'node:fs';

/** Clock ticks per second of the times in /proc, the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * Processor time of a process and of those of its children that have ended, in seconds; undefined where the system has no /proc.
 * @param {number} pid
 */
export function processorSecondsOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // User and system time of the process, then of its children, by their places after the name in brackets.
    const times = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15);
    return times.reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}
