/**
 * Which runs were begun before their workflows came. When Temporal is late, more of them would only make it later, and with it
 * all runs that wait for it: so there are few. Some workflows come to another worker, which nothing reports here: none counts
 * for longer than a moment.
 *
 * Beyond the limit a tenant that has few of them gets one all the same: what Temporal is late with may be the batch of another
 * tenant, and its queue would put a single run after all of that.
 */
export class HeadStarts {
  /** By run, when it was given and to whose; oldest first. */
  private readonly given = new Map<string, { since: number; tenantId: string }>();

  /** @param ofEachTenant so many are given to a tenant whatever others have */
  constructor(
    private readonly limit: number,
    private readonly ofEachTenant: number,
    private readonly forgetAfterMs: number,
  ) {}

  /** Notes one for this run, if there may be another one. */
  give(runId: string, tenantId: string): boolean {
    const now = Date.now();
    for (const [earlier, { since }] of this.given) {
      if (now - since < this.forgetAfterMs) break;
      this.given.delete(earlier);
    }
    if (this.given.size >= this.limit && this.countOf(tenantId) >= this.ofEachTenant) return false;
    this.given.set(runId, { since: now, tenantId });
    return true;
  }

  /** The run's workflow has come. */
  caughtUp(runId: string): void {
    this.given.delete(runId);
  }

  private countOf(tenantId: string): number {
    return [...this.given.values()].filter((given) => given.tenantId === tenantId).length;
  }
}
