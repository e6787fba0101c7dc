import type { DueRun } from '../streams/run-event';

/**
 * Limits eager starts: runs that keep this worker busy before they have a workflow. Begun all at once, the runs of one tenant's batch
 * would all come before another tenant's run. So beyond the limit, a tenant with few eager starts still gets one. Other runs wait for
 * an entry that is removed, for as long as they have no workflow.
 */
export class EagerStarts {
  /** Tenants of the eager starts by run. */
  private readonly given = new Map<string, string>();
  /** Runs beyond the limit, oldest first. */
  private readonly waiting: { due: DueRun; since: number }[] = [];

  /**
   * @param ofEachTenant number of eager starts that each tenant gets regardless of others
   * @param waitMs time after which a run that had to wait is forgotten, since it has a workflow by then
   */
  constructor(
    private readonly limit: number,
    private readonly ofEachTenant: number,
    private readonly waitMs: number,
  ) {}

  /** Records an eager start of this run, if the limits allow another one; otherwise `next` may resolve to it later. */
  give(due: DueRun): boolean {
    this.forgetExpired();
    const isGiven = this.hasRoom(due);
    if (isGiven) this.given.set(due.runId, due.tenantId);
    else this.waiting.push({ due, since: Date.now() });
    return isGiven;
  }

  /** Removes the entry of a run that has ended or isn't begun here, or no longer keeps this worker busy. */
  over(runId: string): void {
    this.given.delete(runId);
  }

  /** Records an eager start of the oldest run that had to wait and that the limits allow now. */
  next(): DueRun | undefined {
    this.forgetExpired();
    const index = this.waiting.findIndex(({ due }) => this.hasRoom(due));
    const [entry] = index < 0 ? [] : this.waiting.splice(index, 1);
    if (entry) this.given.set(entry.due.runId, entry.due.tenantId);
    return entry?.due;
  }

  private hasRoom({ tenantId }: DueRun): boolean {
    return this.given.size < this.limit || this.countOfTenant(tenantId) < this.ofEachTenant;
  }

  private countOfTenant(tenantId: string): number {
    return [...this.given.values()].filter((other) => other === tenantId).length;
  }

  private forgetExpired(): void {
    const expired = Date.now() - this.waitMs;
    while (this.waiting[0] && this.waiting[0].since <= expired) this.waiting.shift();
  }
}
