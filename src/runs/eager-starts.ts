import type { DueRun } from '../streams/run-event';

/** Numbers of eager starts at a time. */
export interface EagerLimits {
  /** Limit for runs whose events are read as they come: with a lower one, the first events of many runs come later. */
  streamed: number;
  /** Limit for all others: with a higher one, fewer of them end per second. */
  others: number;
  /** Number that each tenant may have, whatever the others have. */
  ofEachTenant: number;
}

/**
 * Limits eager starts: runs that keep this worker busy before they have a workflow. Begun all at once, the runs of one tenant's batch
 * would all come before another tenant's run. So beyond the limit, a tenant with few eager starts still gets one. Other runs wait for
 * an entry that is removed or for a slot, for as long as they have no workflow.
 */
export class EagerStarts {
  /** The eager starts by run. */
  private readonly given = new Map<string, { due: DueRun; since: number }>();
  /** Runs that have to wait, oldest first. */
  private readonly waiting: { due: DueRun; since: number }[] = [];

  /**
   * @param waitMs time after which a run that had to wait is forgotten, since it has a workflow by then
   * @param hasSlot whether this worker could execute a run of the tenant now
   */
  constructor(
    private readonly limits: EagerLimits,
    private readonly waitMs: number,
    private readonly hasSlot: (tenantId: string) => boolean,
  ) {}

  /** Records an eager start of this run, if the limits allow another one; otherwise `next` may resolve to it later. */
  give(due: DueRun): boolean {
    this.forgetExpired();
    const isGiven = this.hasRoom(due);
    if (isGiven) this.record(due);
    else this.waiting.push({ due, since: Date.now() });
    return isGiven;
  }

  /** Removes the entry of a run that has ended or isn't begun here, or no longer keeps this worker busy. */
  over(runId: string): void {
    this.given.delete(runId);
  }

  /** Removes the entries that are at least this old, whose runs keep no processor busy. */
  overSince(ms: number): void {
    const latest = Date.now() - ms;
    for (const [runId, { since }] of this.given) if (since <= latest) this.given.delete(runId);
  }

  get isWaiting(): boolean {
    this.forgetExpired();
    return this.waiting.length > 0;
  }

  /** Records an eager start of the oldest run that had to wait and that the limits allow now. */
  next(): DueRun | undefined {
    this.forgetExpired();
    const index = this.waiting.findIndex(({ due }) => this.hasRoom(due));
    const [entry] = index < 0 ? [] : this.waiting.splice(index, 1);
    if (entry) this.record(entry.due);
    return entry?.due;
  }

  private record(due: DueRun): void {
    this.given.set(due.runId, { due, since: Date.now() });
  }

  private hasRoom({ tenantId, isStreamed }: DueRun): boolean {
    if (!this.hasSlot(tenantId)) return false;
    const { streamed, others, ofEachTenant } = this.limits;
    return (
      this.count((other) => other.isStreamed === isStreamed) < (isStreamed ? streamed : others) ||
      this.count((other) => other.tenantId === tenantId) < ofEachTenant
    );
  }

  private count(isCounted: (due: DueRun) => boolean): number {
    return [...this.given.values()].filter(({ due }) => isCounted(due)).length;
  }

  private forgetExpired(): void {
    const expired = Date.now() - this.waitMs;
    while (this.waiting[0] && this.waiting[0].since <= expired) this.waiting.shift();
  }
}
