/** Time without a pulse after which user code counts as blocking a process with work, which sends ten pulses a second. */
const SILENCE_MS = 400;
/** The same for a process without work, which sends two pulses a second. */
const SILENCE_OF_IDLE_MS = 2_000;

/** Share of a processor up to which a process may be busy and take more work without making the work that it has wait. */
const BUSY_BELOW = 0.75;
/** Share of the time between two pulses that new work counts for, until a pulse has measured what it takes. */
const SHARE_OF_NEW_WORK = 0.05;

/**
 * Pulses of a graph process, which stop while user code blocks its event loop. Times are those of a clock that is never set.
 */
export class GraphProcessPulse {
  private last = performance.now();
  /** When the process got the first of the work that it has. */
  private busySince = 0;
  private busyShare = 0;

  /** @param busyShare processor time of its main thread since the last pulse, as a share of the time, from 0 to 1 */
  beat(busyShare: number): void {
    this.last = performance.now();
    this.busyShare = busyShare;
  }

  /** @param isFirst whether the process had no work before */
  gotWork(isFirst: boolean): void {
    if (isFirst) this.busySince = performance.now();
    this.busyShare += SHARE_OF_NEW_WORK;
  }

  /** Whether the process can take more work without making the work that it has wait. */
  get hasTimeLeft(): boolean {
    return this.busyShare < BUSY_BELOW;
  }

  /**
   * Time of the last pulse, if there has been none for so long. After a pause of the whole machine or container this is so for each
   * process until its next pulse is read: only one that is still silent since the same time at a later look is blocked.
   */
  silentSince(ms: number): number | undefined {
    return performance.now() - this.last >= ms ? this.last : undefined;
  }

  isRegular(isIdle: boolean): boolean {
    const now = performance.now();
    if (isIdle) return now - this.last < SILENCE_OF_IDLE_MS;
    // The last pulse of a process that has just got work was that of an idle one.
    return now - Math.max(this.last, this.busySince) < SILENCE_MS;
  }
}
