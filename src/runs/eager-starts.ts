import type { DueRun } from '../streams/run-event';

/**
 * Limits eager starts: runs that are begun before their workflows are started. When Temporal lags, more of them only add load. A
 * workflow may be picked up by another worker without notice, so each entry expires.
 *
 * Beyond the limit, a tenant with few of them still gets one: Temporal may be busy with the batch of another tenant, whose runs
 * would all come before a single run. Other runs wait for an entry that is removed, for as long as they have no workflow.
 */
export class EagerStarts {
  /** Times and tenants of eager starts by run, oldest first. */
  private readonly given = new Map<string, { since: number; tenantId: string }>();
  /** Runs beyond the limit, oldest first. */
  private readonly waiting: { due: DueRun; since: number }[] = [];

  /** @param ofEachTenant number of eager starts that each tenant gets regardless of others */
  constructor(
    private readonly limit: number,
    private readonly ofEachTenant: number,
    private readonly forgetAfterMs: number,
  ) {}

  /** Records an eager start of this run, if the limits allow another one; otherwise `next` may resolve to it later. */
  give(due: DueRun): boolean {
    if (this.tryGive(due)) return true;
    this.forgetWaiting();
    this.waiting.push({ due, since: Date.now() });
    return false;
  }

  /** Removes the entry of a run whose workflow was started, or that isn't begun here. */
  caughtUp(runId: string): void {
    this.given.delete(runId);
  }

  /** Records an eager start of a run that had to wait, if the limits allow one. */
  next(): DueRun | undefined {
    this.forgetWaiting();
    const [oldest] = this.waiting;
    if (!oldest || !this.tryGive(oldest.due)) return undefined;
    this.waiting.shift();
    return oldest.due;
  }

  private tryGive({ runId, tenantId }: DueRun): boolean {
    const now = Date.now();
    for (const [earlier, { since }] of this.given) {
      if (now - since < this.forgetAfterMs) break;
      this.given.delete(earlier);
    }
    if (this.given.size >= this.limit && this.countOf(tenantId) >= this.ofEachTenant) return false;
    this.given.set(runId, { since: now, tenantId });
    return true;
  }

  private forgetWaiting(): void {
    const now = Date.now();
    while (this.waiting[0] && now - this.waiting[0].since >= this.forgetAfterMs) this.waiting.shift();
  }

  private countOf(tenantId: string): number {
    return [...this.given.values()].filter((given) => given.tenantId === tenantId).length;
  }
}
