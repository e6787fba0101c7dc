import type { AuthUser } from '../../database/request-scope';
import type { AuthCache } from '../../config/langgraph-json';
import type { AuthRequest } from './protocol';

/**
 * Users that `authenticate` has found out about: `auth.cache` of langgraph.json says which headers distinguish them, and for
 * how long that holds. Refusals are not kept: a user who logs in is let in at once.
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
    // The last one in is the last one out.
    this.known.delete(key);
    this.known.set(key, { user, until: now + this.settings.ttlMs });
    const [oldest] = this.known.keys();
    if (this.known.size > this.settings.maxSize) this.known.delete(oldest);
  }

  /** Undefined for a request that has none of the headers: nothing says whose it is. */
  private keyOf({ headers }: AuthRequest): string | undefined {
    const values = this.settings.headers.map((name) =>
      headers.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value),
    );
    return values.some((each) => each.length > 0) ? JSON.stringify(values) : undefined;
  }
}
