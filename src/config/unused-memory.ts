import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Time until what follows a start is over: the first requests, and the compilation of their code. */
const AFTER_START_MS = 5_000;
const LOOK_MS = 15_000;
/** Share of the time since the last look in which an idle process executes code. */
const IDLE_BELOW = 0.03;
/** Growth since the last collection, in bytes, that makes another one worth its pause. */
const WORTH_BYTES = 32 * 2 ** 20;

/**
 * Returns to the system what this process no longer uses: once what its start leaves, 25 to 70 MB, and what a load leaves, as soon as
 * the process is idle. V8 would keep it for as long as the process has little to do, since only new objects make it collect, and an
 * ordinary collection keeps the pages that it empties. It takes 0.1 to 0.2 s.
 * @param afterStartMs time until the first collection
 * @param lookMs time between two looks whether the process is idle
 */
export function returnUnusedMemory(afterStartMs = AFTER_START_MS, lookMs = LOOK_MS): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
    let usedBytes = 0;
    const collect = (): void => {
      gc({ type: 'major', flavor: 'last-resort' });
      usedBytes = process.memoryUsage.rss();
    };
    collect();
    let last = performance.eventLoopUtilization();
    setInterval(() => {
      const now = performance.eventLoopUtilization();
      const isIdle = performance.eventLoopUtilization(now, last).utilization < IDLE_BELOW;
      last = now;
      if (isIdle && process.memoryUsage.rss() > usedBytes + WORTH_BYTES) collect();
    }, lookMs).unref();
  }, afterStartMs).unref();
}
