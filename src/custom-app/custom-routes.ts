import { TrieRouter } from 'hono/router/trie-router';
import { CustomAuthDecides } from '../auth/tenant';
import type { AppRoute } from './custom-app.protocol';

/** Never the user's: probes, metrics and the description of the API must be what they say. */
const FIXED = new Set(['/ok', '/ready', '/metrics', '/docs', '/openapi.json']);

/**
 * What a request is to the app: one for a `route` of its own, one that its `middleware` sees before the API does, or
 * neither.
 */
export type AppPart = 'route' | 'middleware' | undefined;

/**
 * Which requests the app gets before Gantry's routes are asked: its table, read as its own router reads it. For the guard
 * they are routes that the custom auth decides about.
 */
@CustomAuthDecides()
export class CustomRoutes {
  private readonly router = new TrieRouter<'route' | 'middleware'>();

  /** @param routes undefined for an app without a table: it is asked for what Gantry has no route for. */
  constructor(private readonly routes: AppRoute[] | undefined) {
    for (const { method, path } of routes ?? []) {
      // Registered for every method below a path, it may be middleware: requests that it doesn't answer go to the API.
      this.router.add(method, path, method === 'ALL' && path.endsWith('*') ? 'middleware' : 'route');
    }
  }

  get hasTable(): boolean {
    return this.routes !== undefined;
  }

  /** @param url path, and query if there is one */
  partOf(method: string, url: string): AppPart {
    const path = url.split('?', 1)[0];
    if (FIXED.has(path) || path.startsWith('/docs/')) return undefined;
    const [matches] = this.router.match(method === 'HEAD' ? 'GET' : method, path);
    const parts = matches.map(([part]) => part);
    if (parts.includes('route')) return 'route';
    // Traces, exports and administration are no part of the API that an app is written for.
    if (path.startsWith('/api/') || path.startsWith('/admin/')) return undefined;
    // Preflights of browsers are answered by the API's own CORS, as on other servers of this API.
    return parts.length > 0 && method !== 'OPTIONS' ? 'middleware' : undefined;
  }
}
