import { TrieRouter } from 'hono/router/trie-router';
import type { AppRoute } from './custom-app.protocol';

/** Never the user's: probes, metrics and the description of the API must be what they say. */
const FIXED = new Set(['/ok', '/ready', '/metrics', '/docs', '/openapi.json']);

/** Which requests are the user's own before Gantry's routes are asked: the app's table, read as its own router reads it. */
export class CustomRoutes {
  private readonly router = new TrieRouter<true>();

  constructor(routes: AppRoute[]) {
    for (const { method, path } of routes) {
      // Registered for every method and everything below a path: middleware, or a fallback. Neither takes a route away.
      if (method === 'ALL' && path.endsWith('*')) continue;
      this.router.add(method, path, true);
    }
  }

  /** @param url path, and query if there is one */
  has(method: string, url: string): boolean {
    const path = url.split('?', 1)[0];
    if (FIXED.has(path) || path.startsWith('/docs/')) return false;
    const [matches] = this.router.match(method === 'HEAD' ? 'GET' : method, path);
    return matches.length > 0;
  }
}
