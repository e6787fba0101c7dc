import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecuteRunResult } from '../../workflows/contracts/run.contract';

/** An attempt at a run that is running in this process: callers wait for its end, watch it or stop it. */
export class RunExecution {
  /** How the attempt ended. Rejects when it failed and not the graph: it can be repeated. */
  readonly ended: Promise<ExecuteRunResult>;
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

  /** Whether the end was requested, and not a lost heartbeat or the worker's own shutdown. */
  get isCancelled(): boolean {
    return this.cancelled;
  }

  /** Whether an activity beats for it. */
  get isWatched(): boolean {
    return this.watchers > 0;
  }

  /** Ends the run as requested. */
  cancel(): void {
    this.cancelled = true;
    this.stop();
  }

  /** Ends this attempt; the run is another one's. */
  stop(): void {
    this.abort.abort('cancelled');
  }

  /** How it ended; undefined when it is still running after `ms`, or when `stopWaiting` was called. */
  endedWithin(ms: number): Promise<ExecuteRunResult | undefined> {
    const timer = sleep(ms, undefined, { signal: this.impatience.signal, ref: false });
    return Promise.race([this.ended, timer.catch(() => undefined)]);
  }

  /** Ends the waiting for the run in a worker that is about to stop: its workflow has an activity watch the run instead. */
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
