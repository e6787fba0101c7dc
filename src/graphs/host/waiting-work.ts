import { stopping } from './graph-process.errors';

/** Work that waits for a process. */
export interface Waiting<Process> {
  tenantId: string;
  resolve: (process: Process) => void;
  reject: (error: Error) => void;
}

/** Processes become blocked without notice, and then no longer count: so often, the work is assigned again. */
const RECOUNT_MS = 500;

/** Work that waits for a process, the oldest first. */
export class WaitingWork<Process> {
  private readonly entries: Waiting<Process>[] = [];

  /** @param assign assigns waiting work to processes */
  constructor(private readonly assign: () => void) {}

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  [Symbol.iterator](): IterableIterator<Waiting<Process>> {
    return this.entries.values();
  }

  /** @param signals end the waiting */
  wait(tenantId: string, signals: AbortSignal[]): Promise<Process> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.remove(entry);
        entry.reject(stopping());
      };
      const again = setInterval(this.assign, RECOUNT_MS);
      const forget = (): void => {
        clearInterval(again);
        signals.forEach((signal) => signal.removeEventListener('abort', stop));
      };
      const entry: Waiting<Process> = {
        tenantId,
        resolve: (process) => (forget(), resolve(process)),
        reject: (error) => (forget(), reject(error)),
      };
      this.entries.push(entry);
      if (signals.some(({ aborted }) => aborted)) return stop();
      signals.forEach((signal) => signal.addEventListener('abort', stop));
      this.assign();
    });
  }

  remove(entry: Waiting<Process>): void {
    this.entries.splice(this.entries.indexOf(entry), 1);
  }

  rejectFirst(error: Error): void {
    this.entries.shift()?.reject(error);
  }

  /** Ends the waiting of all work. */
  stop(): void {
    for (const { reject } of this.entries.splice(0)) reject(stopping());
  }
}
