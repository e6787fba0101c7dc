interface Waiting {
  tenantId: string;
  admit: () => void;
}

/**
 * Limits the hosts that runs have to themselves, each of which costs the memory of another one. First come first served, but one
 * tenant never has all of them: the runs that its poison made suspect are other tenants' too.
 */
export class SuspectSlots {
  private readonly taken = new Map<string, number>();
  private readonly waiting: Waiting[] = [];
  private readonly limit: number;

  /** @param limit of all tenants together; at least two, so that one of them is left for another tenant */
  constructor(limit: number) {
    this.limit = Math.max(2, limit);
  }

  /**
   * Resolves to the function that gives the slot back.
   * @param signal admits the run at once when it is aborted: it has only its end to do
   */
  async take(tenantId: string, signal: AbortSignal): Promise<() => void> {
    if (!signal.aborted && !this.hasRoom(tenantId)) await this.wait(tenantId, signal);
    this.count(tenantId, 1);
    return () => {
      this.count(tenantId, -1);
      this.admitNext();
    };
  }

  private wait(tenantId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const admit = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(entry), 1);
        admit();
      };
      const entry = { tenantId, admit };
      this.waiting.push(entry);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  private admitNext(): void {
    const index = this.waiting.findIndex(({ tenantId }) => this.hasRoom(tenantId));
    if (index >= 0) this.waiting.splice(index, 1)[0].admit();
  }

  private hasRoom(tenantId: string): boolean {
    const all = [...this.taken.values()].reduce((sum, each) => sum + each, 0);
    return all < this.limit && (this.taken.get(tenantId) ?? 0) < this.limit - 1;
  }

  private count(tenantId: string, change: 1 | -1): void {
    const count = (this.taken.get(tenantId) ?? 0) + change;
    if (count > 0) this.taken.set(tenantId, count);
    else this.taken.delete(tenantId);
  }
}
