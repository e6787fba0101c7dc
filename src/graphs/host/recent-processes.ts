/** Maximum of remembered threads; the least recently used ones are forgotten first. */
const MAX_THREADS = 10_000;

interface ThreadOfRun {
  tenantId: string;
  threadId: string;
}

const keyOf = ({ tenantId, threadId }: ThreadOfRun): string => `${tenantId}/${threadId}`;

/** Remembers the process in which each thread ran last, since it has the memory of the thread's code. */
export class RecentProcesses<P> {
  private readonly byThread = new Map<string, P>();

  of(run: ThreadOfRun): P | undefined {
    return this.byThread.get(keyOf(run));
  }

  remember(run: ThreadOfRun, process: P): void {
    const key = keyOf(run);
    // A Map iterates its keys in insertion order.
    this.byThread.delete(key);
    this.byThread.set(key, process);
    if (this.byThread.size > MAX_THREADS) this.byThread.delete(this.byThread.keys().next().value!);
  }

  /** Forgets a process that has ended. */
  forget(process: P): void {
    for (const [key, each] of this.byThread) if (each === process) this.byThread.delete(key);
  }
}
