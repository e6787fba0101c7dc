import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../auth/tenant';
import { type EventFilter, isWanted, type NamespaceView } from './protocol-event';
import { newsOf, type NumberedEvent, type ReadAhead, type ThreadEventsService } from './thread-events.service';

/** Clients have one for each thing that they show. */
const MAX_SUBSCRIPTIONS = 100;

interface Subscription {
  filter: EventFilter;
  /** Sequence number up to which its events were emitted; undefined: none yet. */
  emittedThrough: number | undefined;
}

/** A subscription that begins. */
interface Added {
  id: string;
  replayed: number | undefined;
}

/**
 * The subscriptions of one WebSocket. A client takes each event for all of its subscriptions and counts on their order, so
 * the thread is read once for all of them, and each event goes out once. Another subscription makes the reading begin again,
 * as far back as the newcomer wants: it gets what it has missed before anything continues, and the others get nothing twice.
 */
export class ThreadSubscriptions {
  private readonly subscriptions = new Map<string, Subscription>();
  private newcomers: [id: string, subscription: Subscription][] = [];
  /** Events that were read ahead for the last new subscription. */
  private ahead: ReadAhead | undefined;
  private round = new AbortController();
  private isReading = false;
  /** Whether the thread is there and the user was let through to it. */
  private isReadable = false;

  /** @param emit resolves when the client can take more */
  constructor(
    private readonly events: ThreadEventsService,
    private readonly thread: { tenantId: TenantId; threadId: string },
    private readonly view: NamespaceView,
    private readonly emit: (events: NumberedEvent[]) => Promise<void>,
    /** Aborted when the socket is closed. */
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => this.round.abort());
  }

  get isFull(): boolean {
    return this.subscriptions.size + this.newcomers.length >= MAX_SUBSCRIPTIONS;
  }

  /**
   * Nothing is emitted before `beginReading`: the client has to know the id first.
   * @param isReadable whether the thread is there and the user was let through to it
   * @returns its id, and how many events that are there already follow; no number where they are too many to be read ahead
   */
  async add(wanted: EventFilter, since: number | undefined, isReadable: boolean): Promise<Added> {
    this.isReadable ||= isReadable;
    const id = uuidv7();
    const filter = { ...wanted, view: this.view };
    const { tenantId, threadId } = this.thread;
    if (isReadable) {
      const position = await this.events.findPositionAfter(tenantId, threadId, since);
      this.ahead = await this.events.readAhead(tenantId, threadId, position);
    }
    this.newcomers.push([id, { filter, emittedThrough: since }]);
    if (!isReadable) return { id, replayed: 0 };
    const { events, isWhole } = this.ahead!;
    return { id, replayed: isWhole ? events.filter(newsOf(filter, since)).length : undefined };
  }

  delete(id: string): boolean {
    const isKnown = this.subscriptions.delete(id);
    if (this.subscriptions.size === 0) this.round.abort();
    return isKnown;
  }

  /**
   * Lets newcomers in. Resolves at once, or when the reading that this began has ended: with the last subscription.
   * @throws {ThreadRefused} when the thread that was waited for is not the user's to read
   */
  async beginReading(): Promise<void> {
    if (this.newcomers.length === 0) return;
    for (const [id, subscription] of this.newcomers) this.subscriptions.set(id, subscription);
    this.newcomers = [];
    this.round.abort();
    if (this.isReading) return;
    this.isReading = true;
    try {
      while (this.subscriptions.size > 0 && !this.signal.aborted) await this.read();
    } finally {
      this.isReading = false;
    }
  }

  private async read(): Promise<void> {
    const { tenantId, threadId } = this.thread;
    const { signal } = (this.round = new AbortController());
    if (!this.isReadable) {
      // Events of a thread that is gone.
      this.ahead = undefined;
      if (!(await this.events.untilReadable(tenantId, threadId, signal))) return;
      this.isReadable = true;
    }
    const members = [...this.subscriptions];
    const seen = new Set(members.map(([, { emittedThrough }]) => emittedThrough));
    const positions = await Promise.all(
      [...seen].map((each) => this.events.findPositionAfter(tenantId, threadId, each)),
    );
    for await (const events of this.from(Math.min(...positions), signal)) {
      const news = events.filter((event) => this.isNews(members, event));
      if (news.length > 0) await this.emit(news);
      if (signal.aborted) return;
    }
    if (signal.aborted) return;
    // The thread is gone. Its id may be used again, by this client too: another thread, whose events have not been emitted.
    this.isReadable = false;
    for (const subscription of this.subscriptions.values()) subscription.emittedThrough = undefined;
  }

  /** The events from a position on, without a second reading of what was read for the newcomer. */
  private from(position: number, signal: AbortSignal): AsyncGenerator<NumberedEvent[]> {
    const { ahead } = this;
    const { tenantId, threadId } = this.thread;
    this.ahead = undefined;
    return ahead && ahead.position <= position
      ? this.events.continue(tenantId, threadId, ahead, signal)
      : this.events.follow(tenantId, threadId, position, signal);
  }

  /** Whether a subscription has yet to get the event. All of them are asked: each has got the events up to here then. */
  private isNews(members: [id: string, subscription: Subscription][], event: NumberedEvent): boolean {
    let isNews = false;
    for (const [id, subscription] of members) {
      if (event.seq <= (subscription.emittedThrough ?? -1)) continue;
      subscription.emittedThrough = event.seq;
      if (this.subscriptions.has(id) && isWanted(subscription.filter, event)) isNews = true;
    }
    return isNews;
  }
}
