/** Called once at the end of an attempt; `answered` says whether the host is alive (any status will do). */
export type Leave = (answered: boolean) => void;
/** Either permission for this attempt, or the time to try again. */
export type Turn = { leave: Leave } | { comeBackInMs: number };

interface Host {
  /** When each attempt in flight began, the oldest first. */
  inFlight: Set<{ began: number }>;
  /** Whether the last attempt got no answer, so that only one attempt at a time is made. */
  suspect: boolean;
  waiting: ((turn: Turn) => void)[];
  /** Recent average duration of attempts. */
  attemptMs: number;
  /** Time at which the last promised place becomes free. */
  promisedUntil: number;
}

/** Estimate until the first attempt has ended. */
const ATTEMPT_MS = 100;
const SOONEST_MS = 500;
/** Maximum wait of a deferred delivery, within which a recovered host is noticed. */
const LATEST_MS = 300_000;

/**
 * Limits the attempts in flight to a host, so that a dead receiver delays no other.
 *
 * 1. A live host takes `limit` at a time; a few more wait here for a moment, as long as its answers come quickly. 2. A delivery
 * that doesn't get a turn is deferred at once, releases its slot in the worker and tries again at its own time: each gets a
 * place after the others, spaced by the duration of the host's attempts. A try costs as much as an attempt, so a thousand
 * deliveries to a dead host must not try every few seconds. 3. A host that doesn't answer gets one attempt at a time, and none
 * waits here.
 */
export class HostGate {
  private readonly hosts = new Map<string, Host>();

  constructor(
    private readonly limit: number,
    private readonly longestWaitMs = 2_000,
    private readonly longestQueue = 4 * limit,
  ) {}

  /** `host` names the receiver for one tenant. */
  async enter(host: string): Promise<Turn> {
    const state = this.hosts.get(host) ?? newHost();
    this.hosts.set(host, state);
    if (state.inFlight.size < (state.suspect ? 1 : this.limit)) {
      // There is room: no attempt has to queue after the places that were promised.
      if (!state.suspect) state.promisedUntil = 0;
      return this.admit(host, state);
    }
    return this.maySoonEnter(state) ? this.wait(state) : this.sendAway(state);
  }

  private maySoonEnter(state: Host): boolean {
    if (state.suspect || state.waiting.length >= this.longestQueue) return false;
    return ((state.waiting.length + 1) * usualMs(state)) / this.limit <= this.longestWaitMs;
  }

  private admit(host: string, state: Host): Turn {
    const attempt = { began: Date.now() };
    state.inFlight.add(attempt);
    return {
      leave: (answered) => {
        state.inFlight.delete(attempt);
        state.attemptMs = (state.attemptMs + Date.now() - attempt.began) / 2;
        if (state.suspect && answered) state.promisedUntil = 0;
        state.suspect = !answered;
        if (state.suspect) {
          for (const goOn of state.waiting.splice(0)) goOn(this.sendAway(state));
        } else {
          while (state.inFlight.size < this.limit && state.waiting.length > 0)
            state.waiting.shift()?.(this.admit(host, state));
        }
        if (isIdle(state)) this.forget(host, state);
      },
    };
  }

  private sendAway(state: Host): Turn {
    const now = Date.now();
    const apartMs = usualMs(state) / (state.suspect ? 1 : this.limit);
    // Limited to a bit more than the longest announced wait, beyond which no place is given.
    state.promisedUntil = Math.min(Math.max(state.promisedUntil, now) + apartMs, now + 2 * LATEST_MS);
    const wait = state.promisedUntil - now;
    // Deliveries after the last place are spread over the second half of the time.
    const bounded = wait > LATEST_MS ? LATEST_MS * (0.5 + Math.random() / 2) : Math.max(wait, SOONEST_MS);
    return { comeBackInMs: Math.round(bounded) };
  }

  private wait(state: Host): Promise<Turn> {
    return new Promise((resolve) => {
      const goOn = (turn: Turn): void => {
        clearTimeout(timer);
        resolve(turn);
      };
      const timer = setTimeout(() => {
        state.waiting.splice(state.waiting.indexOf(goOn), 1);
        resolve(this.sendAway(state));
      }, this.longestWaitMs);
      state.waiting.push(goOn);
    });
  }

  /** A live, idle host is forgotten at once; a suspect one is remembered for a limited time. */
  private forget(host: string, state: Host): void {
    const drop = (): void => {
      if (isIdle(state) && this.hosts.get(host) === state) this.hosts.delete(host);
    };
    if (state.suspect) setTimeout(drop, 2 * LATEST_MS).unref();
    else drop();
  }
}

function newHost(): Host {
  return { inFlight: new Set(), suspect: false, waiting: [], attemptMs: ATTEMPT_MS, promisedUntil: 0 };
}

function isIdle({ inFlight, waiting }: Host): boolean {
  return inFlight.size === 0 && waiting.length === 0;
}

/** Expected duration of an attempt: the average, or the age of the oldest one in flight if that is longer. */
function usualMs({ inFlight, attemptMs }: Host): number {
  const [oldest] = inFlight;
  return Math.max(attemptMs, oldest ? Date.now() - oldest.began : 0);
}
