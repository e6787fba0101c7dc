/** A slot that was taken for a run. */
export interface RunSlot {
  release: () => void;
}

/**
 * How many runs a worker executes at once, however they reach it. Beyond the limit there is room for one run of each of some
 * more tenants: a tenant that fills all slots is not in the way of the others, and one that is alone has them all.
 */
export class RunSlots {
  private taken = 0;
  /** Tenants with a run beyond the limit. */
  private readonly extra = new Set<string>();
  /** Slots by tenant, as far as their tenants are known: a run that its workflow begins is read first. */
  private readonly ofTenants = new Map<string, number>();
  private readonly waiting: (() => void)[] = [];
  /** Called when a slot was released, after which `isFreeFor` may have another answer. */
  onRelease: (() => void) | undefined;

  /** @param reserve tenants that may have a run beyond the limit at the same time */
  constructor(
    private readonly limit: number,
    private readonly reserve: number,
  ) {}

  /** Takes a slot if one is free. */
  tryTake(): boolean {
    if (this.taken >= this.limit) return false;
    this.taken += 1;
    return true;
  }

  /** Whether `tryTakeFor` would take a slot for a run of this tenant now. */
  isFreeFor(tenantId: string): boolean {
    return this.taken < this.limit || this.mayUseReserve(tenantId);
  }

  /**
   * Takes a slot for a run: a free one, or one of the reserve when other tenants have slots and its own has none.
   * @param tenantId undefined where it isn't known yet: then there is no reserve
   */
  tryTakeFor(tenantId: string | undefined): RunSlot | undefined {
    if (tenantId === undefined) return this.tryTake() ? { release: () => this.release() } : undefined;
    const isReserved = !this.tryTake();
    if (isReserved && !this.mayUseReserve(tenantId)) return undefined;
    if (isReserved) this.extra.add(tenantId);
    const tenant = this.countTenant(tenantId);
    return {
      release: () => {
        tenant.release();
        if (!isReserved) return this.release();
        this.extra.delete(tenantId);
        this.onRelease?.();
      },
    };
  }

  /** Counts a run for its tenant, once that is known, until that is released; it takes no slot. */
  countTenant(tenantId: string): RunSlot {
    this.count(tenantId, 1);
    return { release: () => this.count(tenantId, -1) };
  }

  private mayUseReserve(tenantId: string): boolean {
    return this.ofTenants.size > 0 && !this.ofTenants.has(tenantId) && this.extra.size < this.reserve;
  }

  /** Takes a slot, first come first served. Rejects with the signal's reason when that is aborted before there is one. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.tryTake()) return;
    await new Promise<void>((resolve, reject) => {
      const got = (): void => {
        signal.removeEventListener('abort', gaveUp);
        resolve();
      };
      const gaveUp = (): void => {
        this.waiting.splice(this.waiting.indexOf(got), 1);
        reject(signal.reason as Error);
      };
      this.waiting.push(got);
      signal.addEventListener('abort', gaveUp, { once: true });
    });
  }

  /** Gives a slot back: it is the next one's who waits. */
  release(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.taken -= 1;
    this.onRelease?.();
  }

  private count(tenantId: string, change: number): void {
    const count = (this.ofTenants.get(tenantId) ?? 0) + change;
    if (count === 0) this.ofTenants.delete(tenantId);
    else this.ofTenants.set(tenantId, count);
  }
}
