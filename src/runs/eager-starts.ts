/**
 * Limits eager starts: runs that are begun before their workflow tasks arrive. When Temporal lags, more of them only add load. A
 * workflow may be picked up by another worker without notice, so each entry expires.
 *
 * Beyond the limit, a tenant with few of them still gets one: Temporal may be busy with the batch of another tenant, whose runs
 * would all come before a single run.
 */
export class EagerStarts {
  /** Times and tenants of eager starts by run, oldest first. */
  private readonly given = new Map<string, { since: number; tenantId: string }>();

  /** @param ofEachTenant number of eager starts that each tenant gets regardless of others */
  constructor(
    private readonly limit: number,
    private readonly ofEachTenant: number,
    private readonly forgetAfterMs: number,
  ) {}

  /** Records an eager start of this run, if the limits allow another one. */
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

  /** Removes the entry of a run whose workflow task has arrived. */
  caughtUp(runId: string): void {
    this.given.delete(runId);
  }

  private countOf(tenantId: string): number {
    return [...this.given.values()].filter((given) => given.tenantId === tenantId).length;
  }
}
