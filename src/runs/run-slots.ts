/** How many runs a worker executes at once, however they reach it. */
export class RunSlots {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limit: number) {}

  /** Takes a slot if one is free. */
  tryTake(): boolean {
    if (this.taken >= this.limit) return false;
    this.taken += 1;
    return true;
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
  }
}
