/** Called once at the end of an attempt; `answered` says whether the host is alive (any status will do). */
export type Leave = (answered: boolean) => void;
/** Either it is this attempt's turn, or it should come back later. */
export type Turn = { leave: Leave } | { comeBackInMs: number };

interface Host {
  /** When each attempt in flight began, the oldest first. */
  inFlight: Set<{ began: number }>;
  /** The last attempt got no answer: until one does, one attempt at a time finds out. */
  suspect: boolean;
  waiting: ((turn: Turn) => void)[];
  /** How long ended attempts took, lately. */
  attemptMs: number;
  /** When the place that was promised last comes free. */
  promisedUntil: number;
}

/** A guess until the first attempt has ended. */
const ATTEMPT_MS = 100;
const SOONEST_MS = 500;
/** A host that recovers is found out about within this, by those who were sent away last. */
const LATEST_MS = 300_000;

/**
 * Limits the attempts in flight to a host, so that a dead receiver delays no other.
 *
 * 1. A live host takes `limit` at a time; a few more wait here for a moment, as long as its answers come quickly.
 * 2. A delivery that doesn't get a turn is sent away at once, gives its slot in the worker back and comes again at a time of its
 *    own: each gets a place after the others, as far apart as the host's attempts take. Coming again costs as much as an
 *    attempt does, so a thousand deliveries to a dead host must not ask every few seconds.
 * 3. A host that doesn't answer is down to one attempt at a time and none that waits.
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
    // Not far beyond the longest wait that is ever announced: no delivery would be given a later place.
    state.promisedUntil = Math.min(Math.max(state.promisedUntil, now) + apartMs, now + 2 * LATEST_MS);
    const wait = state.promisedUntil - now;
    // Those after the last place come back spread over the second half of the time.
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

  /** A live, idle host is forgotten at once; a suspect one has to be remembered, but not for ever. */
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

/** How long an attempt takes: what ended ones took, or what the oldest in flight has taken already. */
function usualMs({ inFlight, attemptMs }: Host): number {
  const [oldest] = inFlight;
  return Math.max(attemptMs, oldest ? Date.now() - oldest.began : 0);
}
