/** Time without a pulse after which user code counts as blocking a process with work, which sends ten pulses a second. */
const SILENCE_MS = 400;
/** The same for a process without work, which sends two pulses a second. */
const SILENCE_OF_IDLE_MS = 2_000;

/** Pulses of a graph process, which stop while user code blocks its event loop. */
export class GraphProcessPulse {
  private last = Date.now();
  /** When the process got the first of the work that it has. */
  private busySince = 0;

  beat(): void {
    this.last = Date.now();
  }

  /** Called when a process without work gets some. */
  becameBusy(): void {
    this.busySince = Date.now();
  }

  isRegular(isIdle: boolean): boolean {
    const now = Date.now();
    if (isIdle) return now - this.last < SILENCE_OF_IDLE_MS;
    // The last pulse of a process that has just got work was that of an idle one.
    return now - Math.max(this.last, this.busySince) < SILENCE_MS;
  }
}
