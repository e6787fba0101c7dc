import type { AuthUser } from '../../database/request-scope';
import type { AuthCache } from '../../config/langgraph-json';
import type { AuthRequest } from './protocol';

/**
 * Cache of users that `authenticate` returned: `auth.cache` of langgraph.json names the headers that distinguish them, and the
 * time. Refusals are not cached, so that a user who logs in has access at once.
 */
export class UserCache {
  private readonly known = new Map<string, { user: AuthUser; until: number }>();

  constructor(private readonly settings: AuthCache) {}

  get(request: AuthRequest, now = Date.now()): AuthUser | undefined {
    const key = this.keyOf(request);
    const known = key === undefined ? undefined : this.known.get(key);
    return known && known.until > now ? known.user : undefined;
  }

  set(request: AuthRequest, user: AuthUser, now = Date.now()): void {
    const key = this.keyOf(request);
    if (key === undefined) return;
    // Re-inserted, so that it is evicted last.
    this.known.delete(key);
    this.known.set(key, { user, until: now + this.settings.ttlMs });
    const [oldest] = this.known.keys();
    if (this.known.size > this.settings.maxSize) this.known.delete(oldest);
  }

  /** Undefined for a request without any of the headers, which identifies no user. */
  private keyOf({ headers }: AuthRequest): string | undefined {
    const values = this.settings.headers.map((name) =>
      headers.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value),
    );
    return values.some((each) => each.length > 0) ? JSON.stringify(values) : undefined;
  }
}
