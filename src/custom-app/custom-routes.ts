import { TrieRouter } from 'hono/router/trie-router';
import { getPath, getPathNoStrict } from 'hono/utils/url';
import { CustomAuthDecides } from '../auth/tenant';
import { decodedPath } from '../http/request-target';
import type { AppRoute, PathReading } from './custom-app.protocol';
import { unescapedTarget } from './unescaped-target';

/** Never the user's: probes, metrics and the description of the API must be what they say. */
const FIXED = new Set(['/ok', '/ready', '/metrics', '/docs', '/openapi.json']);

const isFixed = (path: string): boolean => FIXED.has(path) || path.startsWith('/docs/');

/**
 * Relation of a request to the app: it is for a `route` of the app, or passes its `middleware` before the API, or `either` of
 * them, which the app's table doesn't say, or neither.
 */
export type AppPart = 'route' | 'middleware' | 'either' | undefined;

/**
 * The path that the app will find in a target: without segments of dots, with a slash for a backslash, and with escaped slashes left as
 * they are.
 */
function pathInApp(target: string, { dropsLastSlash }: PathReading): string {
  const { href } = new URL(`http://app${target.startsWith('/') ? '' : '/'}${target}`);
  return (dropsLastSlash ? getPathNoStrict : getPath)({ url: href } as Request);
}

/**
 * Which requests the app gets before Gantry's routes are asked: its table, read as its own router reads it. For the guard
 * they are routes that the custom auth decides about.
 */
@CustomAuthDecides()
export class CustomRoutes {
  private readonly router = new TrieRouter<Exclude<AppRoute['part'], 'websocket'>>();
  private readonly sockets = new TrieRouter<true>();

  /**
   * @param routes undefined for an app without a table: it is asked for what Gantry has no route for.
   */
  constructor(
    private readonly routes: AppRoute[] | undefined,
    private readonly reading: PathReading = {},
  ) {
    for (const { method, path, part } of routes ?? []) {
      if (part === 'websocket') this.sockets.add(method, path, true);
      else this.router.add(method, path, part);
    }
  }

  get hasTable(): boolean {
    return this.routes !== undefined;
  }

  /** @param target path, and query if there is one, in origin form and as the client spelled it */
  partOf(method: string, target: string): AppPart {
    // A route needs authentication and middleware doesn't: what is a route in any reading of the path is one.
    const paths = [decodedPath(target), pathInApp(target, this.reading)];
    if (this.reading.readsEscapes) paths.push(decodedPath(this.targetOf(target)));
    if (paths.some(isFixed)) return undefined;
    const parts = paths.flatMap((path) => this.partsOf(method, path));
    if (parts.includes('route')) return 'route';
    // Traces, exports and administration are no part of the API that an app is written for.
    if (paths.some((path) => path.startsWith('/api/') || path.startsWith('/admin/'))) return undefined;
    // Preflights of browsers are answered by the API's own CORS, as on other servers of this API.
    if (parts.length === 0 || method === 'OPTIONS') return undefined;
    return parts.includes('either') ? 'either' : 'middleware';
  }

  /** Whether the handshake of a WebSocket is for the app, which asks for it under the target of `targetOf`. */
  isSocket(target: string): boolean {
    const path = decodedPath(this.targetOf(target));
    const [matches] = this.sockets.match('GET', path);
    return matches.length > 0 && !isFixed(path);
  }

  /**
   * The target under which a route of the app is asked for. What the custom auth decides about a path is decided about the one
   * that the app reads.
   */
  targetOf(target: string): string {
    return this.reading.readsEscapes ? unescapedTarget(target) : target;
  }

  private partsOf(method: string, path: string): AppPart[] {
    const [matches] = this.router.match(method === 'HEAD' ? 'GET' : method, path);
    return matches.map(([part]) => part);
  }
}
