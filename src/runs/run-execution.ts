import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecuteRunResult } from '../../workflows/contracts/run.contract';

/** An attempt at a run in this process: callers wait for its end, watch it or stop it. */
export class RunExecution {
  /** How the attempt ended. Rejects if the attempt rather than the graph failed, so that it can be repeated. */
  readonly ended: Promise<ExecuteRunResult>;
  /** When the attempt began. */
  readonly startedAt = new Date();
  /** Node the graph is executing, if any. */
  node: string | undefined;
  private readonly abort = new AbortController();
  private readonly impatience = new AbortController();
  private cancelled = false;
  private watchers = 0;

  /** @param work begins at once and ends early when `signal` is aborted */
  constructor(work: (execution: RunExecution) => Promise<ExecuteRunResult>) {
    this.ended = work(this);
    // Watchers see a failure; until there is one, it must not count as unhandled.
    this.ended.catch(() => undefined);
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** Whether the end was requested, as opposed to a lost heartbeat or the worker's shutdown. */
  get isCancelled(): boolean {
    return this.cancelled;
  }

  /** Whether an activity sends heartbeats for it. */
  get isWatched(): boolean {
    return this.watchers > 0;
  }

  /** Ends the run as requested. */
  cancel(): void {
    this.cancelled = true;
    this.stop();
  }

  /** Ends this attempt, since another one owns the run. */
  stop(): void {
    this.abort.abort('cancelled');
  }

  /** Resolves to how the attempt ended; to undefined if it is still running after `ms`, or when `stopWaiting` was called. */
  endedWithin(ms: number): Promise<ExecuteRunResult | undefined> {
    const timer = sleep(ms, undefined, { signal: this.impatience.signal, ref: false });
    return Promise.race([this.ended, timer.catch(() => undefined)]);
  }

  /** Resolves as `endedWithin` does, and to undefined when the attempt failed, which it has reported. */
  settledWithin(ms: number): Promise<ExecuteRunResult | undefined> {
    return this.endedWithin(ms).catch(() => undefined);
  }

  /**
   * Ends the wait for the run in a worker that is about to stop: the run's workflow then starts an activity that watches it.
   */
  stopWaiting(): void {
    this.impatience.abort();
  }

  /** @returns how it ended; counts as watched meanwhile */
  async watch(): Promise<ExecuteRunResult> {
    this.watchers += 1;
    try {
      return await this.ended;
    } finally {
      this.watchers -= 1;
    }
  }
}
