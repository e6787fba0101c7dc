/**
 * Limits eager starts: runs that are begun before their workflow tasks arrive. When Temporal lags, more of them only add load. A
 * workflow may be picked up by another worker without notice, so each entry expires.
 *
 * Beyond the limit, a tenant with few of them still gets one: Temporal may be busy with the batch of another tenant, and its queue
 * would put a single run after all of that.
 */
export class EagerStarts {
  /** Times and tenants of eager starts by run, oldest first. */
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
