// Figures of a series of measurements, and the loops that make them.
import { readdirSync, readFileSync } from 'node:fs';

/**
 * @param {number[]} values
 * @param {number} share 0.5 for the median
 */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/**
 * Runs `work` `count` times, `concurrency` at once.
 * @param {number} count
 * @param {number} concurrency
 * @param {(index: number) => Promise<unknown>} work
 * @returns {Promise<{ perSecond: number, p50: number, p99: number }>} latencies in milliseconds
 */
export async function load(count, concurrency, work) {
  /** @type {number[]} */
  const latencies = [];
  let next = 0;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < count) {
        const index = next++;
        const start = performance.now();
        await work(index);
        latencies.push(performance.now() - start);
      }
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  return { perSecond: count / seconds, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
}

/**
 * @param {number} pid
 * @param {'VmHWM' | 'VmRSS'} figure
 */
function megabytes(pid, figure) {
  const kilobytes = new RegExp(`${figure}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}

/**
 * Resident memory of a process, in MB.
 * @param {number} pid
 */
export const memoryMb = (pid) => megabytes(pid, 'VmRSS');

/**
 * Peak resident memory of a process so far, in MB.
 * @param {number} pid
 */
export const peakMemoryMb = (pid) => megabytes(pid, 'VmHWM');

/** Clock ticks per second of the times in /proc, the same on every Linux that Node runs on. */
const TICKS = 100;

/**
 * Processor time of every process of this machine so far, in seconds, by the name of its program; those whose ids have a
 * name in `names` by that. A wall clock shows how busy a machine was, this what the work costs.
 * @param {Record<number, string>} [names]
 */
export function processorSeconds(names = {}) {
  /** @type {Record<string, number>} */
  const seconds = {};
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // Kernel threads are named after their current task.
      const program = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')).replace(/^kworker.*/, 'kworker');
      const name = names[pid] ?? program;
      const [user, system] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11);
      seconds[name] = (seconds[name] ?? 0) + (Number(user) + Number(system)) / TICKS;
    } catch {
      // Gone meanwhile.
    }
  }
  return seconds;
}

/**
 * Adds up a figure of a process and of all processes that it started, by what `nameOf` calls them.
 * @param {number} root id of the process
 * @param {(command: string) => string} nameOf is given a process' command line, its arguments separated by spaces
 * @param {(pid: number, fields: string[]) => number} figureOf is given what follows the name in /proc/PID/stat
 */
function sumBelow(root, nameOf, figureOf) {
  /** @type {Map<number, string[]>} */
  const processes = new Map();
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      processes.set(pid, stat.slice(stat.lastIndexOf(')') + 2).split(' '));
    } catch {
      // Gone meanwhile.
    }
  }
  const isBelow = (/** @type {number} */ pid) => {
    for (let at = pid; at > 1; at = Number(processes.get(at)?.[1] ?? 0)) if (at === root) return true;
    return false;
  };
  /** @type {Record<string, number>} */
  const sums = {};
  for (const [pid, fields] of processes) {
    if (!isBelow(pid)) continue;
    try {
      const name = nameOf(readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
      sums[name] = (sums[name] ?? 0) + figureOf(pid, fields);
    } catch {
      // Gone meanwhile.
    }
  }
  return sums;
}

/**
 * Processor time so far of a process and of all processes that it started, in seconds, by what `nameOf` calls them; with the
 * time of those among their children that have ended.
 * @param {number} root id of the process
 * @param {(command: string) => string} nameOf is given a process' command line, its arguments separated by spaces
 */
export const processorSecondsBelow = (root, nameOf) =>
  sumBelow(root, nameOf, (_, fields) => fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0) / TICKS);

/**
 * Memory of a process and of all processes that it started, in MB, by what `nameOf` calls them. A page that several processes
 * share is divided among them (PSS), so that the sum is what the machine has given them.
 * @param {number} root id of the process
 * @param {(command: string) => string} nameOf is given a process' command line, its arguments separated by spaces
 */
export const memoryBelow = (root, nameOf) =>
  sumBelow(root, nameOf, (pid) => {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) / 1024;
  });

/** @param {number} value */
export const ms = (value) => `${value < 100 ? value.toFixed(1) : Math.round(value)} ms`;

/**
 * Figures of one measurement: operations per second, chats at once, latencies in milliseconds, a duration in seconds, memory in
 * megabytes.
 * @typedef {{ perSecond?: number, chats?: number, p50?: number, p99?: number, seconds?: number, megabytes?: number }} Figures
 */

/** @type {{ [name in keyof Figures]-?: (value: number) => string }} */
const FORMATS = {
  perSecond: (value) => `${value < 200 ? value.toFixed(1) : Math.round(value)}/s`,
  chats: (value) => `${value} chats`,
  p50: (value) => `p50 ${ms(value)}`,
  p99: (value) => `p99 ${ms(value)}`,
  seconds: (value) => `${value.toFixed(1)} s`,
  megabytes: (value) => `${Math.round(value)} MB`,
};

/**
 * The median of each figure over all rounds; of several rounds, also the range of the first figure.
 * @param {Figures[]} rounds with the same figures in each
 */
export function formatFigures(rounds) {
  const names = Object.keys(FORMATS).filter((name) => name in rounds[0]);
  const parts = names.map((name, index) => {
    const values = rounds.map((figures) => figures[name]);
    const median = FORMATS[name](percentile(values, 0.5));
    if (index > 0 || rounds.length === 1) return median;
    const bare = (/** @type {number} */ value) => FORMATS[name](value).replace(/^p\d+ |\/s$| \S+$/g, '');
    return `${median} (${bare(Math.min(...values))} to ${bare(Math.max(...values))})`;
  });
  return parts.join(', ');
}
