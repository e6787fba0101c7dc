import type { HttpSettings } from '../config/http-settings';
import type { CustomApp } from '../custom-app/custom-app';
import {
  APP_MIDDLEWARE_PATH,
  APP_SOCKET_PATH,
  CUSTOM_APP_PATH,
  isCallerTarget,
  NOWHERE,
} from '../custom-app/custom-app.plugin';
import { decodedPath, INNER_PREFIX, originForm } from '../http/request-target';
import type { ServedRoutes } from '../http/served-routes';

/** Served without the prefix too: what probes and scrapers ask must not depend on where the API is mounted. */
const AT_ROOT = new Set(['/', '/ok', '/ready', '/metrics']);

/** Gone with `disable_meta`, beside the pages about the API, which aren't made then. */
const META = new Set(['/', '/info', '/api/info', '/api/v1/info', '/metrics', '/system/findings']);

/** How LangSmith's clients call themselves, in each of their languages. */
const TRACE_CLIENT = /^langsmith-/i;
/**
 * Paths that mean traced runs and LangSmith's version for those clients, and the deployment API's runs and version for others.
 */
const SHARED = /^\/(?:runs(?:[/?]|$)|info(?:\?|$))/;

/** `app`: passed on or asked for by the user's own app. `handshake`: of a WebSocket, which doesn't go through middleware. */
export type RequestOrigin = 'client' | 'handshake' | 'app';

/**
 * The path for the router, given the requested one: without `mount_prefix`, with the contract's second spelling of threads
 * corrected, with the user's own routes directed to their app, and with trace clients that only know this server's address
 * directed to traces.
 * @param api the routes that the API has
 */
export function urlRewriter(
  { mountPrefix, isMetaDisabled }: Pick<HttpSettings, 'mountPrefix' | 'isMetaDisabled'>,
  customApp: Pick<CustomApp, 'routes'> | undefined,
  api: Pick<ServedRoutes, 'has'>,
): (method: string, url: string, userAgent?: string, from?: RequestOrigin) => string {
  return (method, target, userAgent = '', from = 'client') => {
    const asked = originForm(target);
    // What the app has let through, or asks for itself, comes without the prefix.
    const url = mountPrefix === '' || from === 'app' ? asked : withoutPrefix(mountPrefix, asked);
    if (url === undefined) return NOWHERE;
    // What is switched off or the server's own is so in every spelling that the router would find it by.
    const path = decodedPath(url);
    if (path.startsWith(INNER_PREFIX)) return from === 'app' && isCallerTarget(url) ? url : NOWHERE;
    if (isMetaDisabled && META.has(path)) return NOWHERE;
    if (from === 'handshake' && customApp?.routes.isSocket(url))
      return APP_SOCKET_PATH + customApp.routes.targetOf(url);
    const inOwn = inApi(url, userAgent);
    const part = from === 'app' ? undefined : customApp?.routes.partOf(method, url);
    if (part === 'route') return CUSTOM_APP_PATH + customApp!.routes.targetOf(url);
    if (part === undefined || from !== 'client') return inOwn;
    // The API asks for the caller after middleware. Where it has no route, nothing but the app could answer.
    const isRoute = part === 'either' && !api.has(method, inOwn);
    return (isRoute ? CUSTOM_APP_PATH : APP_MIDDLEWARE_PATH) + url;
  };
}

function inApi(url: string, userAgent: string): string {
  if (SHARED.test(url) && TRACE_CLIENT.test(userAgent)) return `/api/v1${url}`;
  // An agent's address may end in a slash.
  const [, agent, query = ''] = /^(\/a2a\/[^/?]+)\/(\?.*)?$/.exec(url) ?? [];
  if (agent) return agent + query;
  // `/thread/…` is how the contract's webhook list spells `/threads/…`: one handler serves both.
  return url.startsWith('/thread/') ? `/threads/${url.slice('/thread/'.length)}` : url;
}

function withoutPrefix(prefix: string, url: string): string | undefined {
  if (url.startsWith(prefix)) {
    const rest = url.slice(prefix.length);
    if (rest === '' || rest.startsWith('?')) return `/${rest}`;
    if (rest.startsWith('/')) return rest;
  }
  return AT_ROOT.has(url.split('?', 1)[0]) ? url : undefined;
}
