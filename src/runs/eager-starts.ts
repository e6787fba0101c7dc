import type { DueRun } from '../streams/run-event';

/**
 * Limits eager starts: runs that are begun before their workflows are started. When Temporal lags, more of them only add load. A
 * workflow may be picked up by another worker without notice, so each entry expires.
 *
 * Temporal may be busy with the batch of one tenant, whose runs would all come before another tenant's. So beyond the limit, a tenant
 * with few eager starts still gets one, and so does a tenant that has no other run in flight here, however many it has just had. Other
 * runs wait for an entry that is removed, for as long as they have no workflow.
 */
export class EagerStarts {
  /** Eager starts by run, oldest first. */
  private readonly given = new Map<string, { since: number; tenantId: string; isOver: boolean }>();
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
    this.forgetExpired();
    const isGiven = this.hasRoom(due) || this.isOnlyRun(due);
    if (isGiven) this.record(due);
    else this.waiting.push({ due, since: Date.now() });
    return isGiven;
  }

  /** Removes the entry of a run whose workflow was started, or that isn't begun here. */
  caughtUp(runId: string): void {
    this.given.delete(runId);
  }

  /** The run has ended, whether or not its workflow was started. */
  over(runId: string): void {
    const given = this.given.get(runId);
    if (given) given.isOver = true;
  }

  /** Records an eager start of the oldest run that had to wait and that the limits allow now. */
  next(): DueRun | undefined {
    this.forgetExpired();
    const index = this.waiting.findIndex(({ due }) => this.hasRoom(due));
    const [entry] = index < 0 ? [] : this.waiting.splice(index, 1);
    if (entry) this.record(entry.due);
    return entry?.due;
  }

  private record({ runId, tenantId }: DueRun): void {
    this.given.set(runId, { since: Date.now(), tenantId, isOver: false });
  }

  private hasRoom({ tenantId }: DueRun): boolean {
    return this.given.size < this.limit || this.ofTenant(tenantId).length < this.ofEachTenant;
  }

  private isOnlyRun({ tenantId }: DueRun): boolean {
    const waits = this.waiting.some(({ due }) => due.tenantId === tenantId);
    return !waits && this.ofTenant(tenantId).every(({ isOver }) => isOver);
  }

  private ofTenant(tenantId: string): { isOver: boolean }[] {
    return [...this.given.values()].filter((given) => given.tenantId === tenantId);
  }

  private forgetExpired(): void {
    const expired = Date.now() - this.forgetAfterMs;
    for (const [runId, { since }] of this.given) {
      if (since > expired) break;
      this.given.delete(runId);
    }
    while (this.waiting[0] && this.waiting[0].since <= expired) this.waiting.shift();
  }
}
