import { setTimeout as sleep } from 'node:timers/promises';
import { PidRecord, STOP_ORDER, startReaper } from './leftovers.mjs';
import { say } from './progress.mjs';
import { RunningPart, describeExit } from './process.mjs';

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;
/** Time after which a part counts as recovered: after its next failure it is started at once. */
const HEALTHY_AFTER_MS = 10_000;
const FIRST_START_ATTEMPTS = 20;

/** @param {RunningPart} running */
function lastLines({ lines }) {
  return lines.length > 0 ? `\n${lines.map((line) => `    ${line}`).join('\n')}` : ' It wrote nothing.';
}

/**
 * Does work that a running part doesn't depend on: its failure, as on a full disk, is reported and ends nothing.
 * @param {string} name
 * @param {string} failure
 * @param {() => void} work
 */
function orSay(name, failure, work) {
  try {
    work();
  } catch (error) {
    say(name, `${failure}: ${error.message}`);
  }
}

/** Runs parts, keeps them running, and stops them in the order in which they depend on each other. */
export class Supervisor {
  /**
   * @param {{ home: string, logs: string, signal: AbortSignal, onLine?: (name: string, line: string) => void,
   *   onRestart?: () => void }} options
   */
  constructor({ home, logs, signal, onLine, onRestart }) {
    this.logs = logs;
    this.signal = signal;
    this.onLine = onLine;
    this.onRestart = onRestart;
    this.record = new PidRecord(home);
    this.dismissReaper = startReaper(home);
    /** @type {Map<string, RunningPart>} */
    this.running = new Map();
    this.stopping = false;
  }

  /** @returns {Record<string, number>} */
  pids() {
    return Object.fromEntries([...this.running].map(([name, { pid }]) => [name, pid ?? 0]));
  }

  /**
   * Starts a part for the first time, and resolves when it serves. A failure is final, unless the part's `worthRetrying`
   * says otherwise.
   * @param {import('./process.mjs').Part} part
   */
  async start(part) {
    for (let attempt = 1; ; attempt++) {
      const running = await this.spawn(part);
      const failure = await this.untilReady(running);
      if (!failure) {
        void this.keepRunning(running);
        return;
      }
      if (this.stopping) throw failure;
      if (!part.worthRetrying?.(running.lines) || attempt === FIRST_START_ATTEMPTS) {
        await running.stop();
        throw failure;
      }
      await sleep(FIRST_BACKOFF_MS, undefined, { signal: this.signal });
    }
  }

  /** @param {import('./process.mjs').Part} part */
  async spawn(part) {
    await part.prepare?.();
    this.signal.throwIfAborted();
    const running = new RunningPart(part, { logs: this.logs, onLine: this.onLine });
    this.running.set(part.name, running);
    orSay(part.name, 'runs, but is not in the record of processes', () => this.record.add(running));
    return running;
  }

  /**
   * @param {RunningPart} running
   * @returns {Promise<Error | undefined>} why it doesn't serve
   */
  async untilReady(running) {
    const died = running.exited.then((exit) => {
      return new Error(`${running.part.name} ${describeExit(exit)}. Its last lines:${lastLines(running)}`);
    });
    const ready = running.part.ready(running).then(
      () => undefined,
      (error) => new Error(`${running.part.name}: ${error.message}. Its last lines:${lastLines(running)}`),
    );
    return Promise.race([died, ready]);
  }

  /** @param {RunningPart} first */
  async keepRunning(first) {
    const { name } = first.part;
    let running = first;
    let backoffMs = 0;
    let readySince = Date.now();
    for (;;) {
      const exit = await running.exited;
      if (this.stopping) return;
      if (Date.now() - readySince > HEALTHY_AFTER_MS) backoffMs = 0;
      // One recovery shortens one pause: while the part can't be started, the pauses become longer.
      readySince = Infinity;
      const when = backoffMs > 0 ? `in ${backoffMs / 1000} s` : 'at once';
      say(name, `${describeExit(exit)}; starting it again ${when}. Its last lines:${lastLines(running)}`);
      try {
        await sleep(backoffMs, undefined, { signal: this.signal });
        backoffMs = Math.min(Math.max(FIRST_BACKOFF_MS, backoffMs * 2), LONGEST_BACKOFF_MS);
        running = await this.spawn(first.part);
      } catch (error) {
        if (this.stopping) return;
        say(name, `can't be started: ${error.message}`);
        continue; // `running` is still the dead process: the loop waits and tries again.
      }
      const failure = await this.untilReady(running);
      if (this.stopping) return;
      if (failure) {
        await running.stop();
        continue;
      }
      readySince = Date.now();
      say(name, `runs again (process ${running.pid})`);
      orSay(name, 'runs, but its restart could not be published', () => this.onRestart?.());
    }
  }

  /** Stops everything, each part before what it stands on. */
  async stop() {
    this.stopping = true;
    for (const name of STOP_ORDER) {
      const running = this.running.get(name);
      if (!running || running.exit) continue;
      const since = Date.now();
      const { signal } = await running.stop();
      const how = signal === 'SIGKILL' ? 'killed: it did not stop in time' : 'stopped';
      say(name, `${how} (${((Date.now() - since) / 1000).toFixed(1)} s)`);
    }
    this.record.remove();
    this.dismissReaper();
  }

  /**
   * Shortens a stop for a user who doesn't want to wait: processes that have to finish their work are killed, the database
   * still stops safely.
   */
  stopNow() {
    for (const running of this.running.values()) {
      running.kill(running.part.name === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
    }
  }
}
