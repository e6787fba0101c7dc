/**
 * Which runs were begun before their workflows came. When Temporal is late, more of them would only make it later, and with it all runs
 * that wait for it: so there are few. Some workflows come to another worker, and nobody tells: none counts for longer than a moment.
 */
export class HeadStarts {
  /** By run, when it was given; oldest first. */
  private readonly given = new Map<string, number>();

  constructor(
    private readonly limit: number,
    private readonly forgetAfterMs: number,
  ) {}

  /** Notes one for this run, if there may be another one. */
  give(runId: string): boolean {
    const now = Date.now();
    for (const [earlier, since] of this.given) {
      if (now - since < this.forgetAfterMs) break;
      this.given.delete(earlier);
    }
    if (this.given.size >= this.limit) return false;
    this.given.set(runId, now);
    return true;
  }

  /** The run's workflow has come. */
  caughtUp(runId: string): void {
    this.given.delete(runId);
  }
}
