import { AsyncLocalStorage } from 'node:async_hooks';
import type { Hono } from 'hono';
import { inspectRoutes } from 'hono/dev';
import { type AppRoute, CALLER_HEADER, NOT_ASKED } from './custom-app.protocol';

/** Learns from the API who makes a request: its answer has the caller's header if that one may pass. */
export type AskForCaller = (request: Request) => Promise<Response>;

/** Whether the API knows the caller of the request under way. */
const isKnown = new AsyncLocalStorage<boolean>();

/**
 * The routes of an app, as the API is to see them. A handler that takes no `next` is a route wherever it is registered. One that does
 * is a route for one method or one path; for every method below a path it may be middleware, whose requests go to the API.
 */
export function routesOf(app: Hono): AppRoute[] {
  return inspectRoutes(app).map(({ method, path, isMiddleware }) => ({
    method,
    path,
    part: isMiddleware && method === 'ALL' && path.endsWith('*') ? 'either' : 'route',
  }));
}

/** Serves a request with the API's word on its caller. */
export function servedFor<T>(request: Request, serve: () => T): T {
  const [caller] = (request.headers.get(CALLER_HEADER) ?? NOT_ASKED).split('.', 1);
  return isKnown.run(caller !== NOT_ASKED, serve);
}

/**
 * Keeps the routes of an app for callers that the API knows. Middleware runs before the API is asked, and may dispatch a request again,
 * with a method or path other than those that are the API's own.
 * @param fetch dispatches a request to the app
 */
export function gated(app: Hono, askForCaller: AskForCaller, fetch: Hono['fetch']): Hono['fetch'] {
  const table = routesOf(app);
  const mayBeMiddleware = new Set(app.routes.filter((_route, index) => table[index].part === 'either'));
  const hasRouteFor = (request: Request): boolean => {
    const [matches] = app.router.match(request.method === 'HEAD' ? 'GET' : request.method, app.getPath(request));
    return matches.some(([[, route]]) => !mayBeMiddleware.has(route));
  };
  return async (request, ...rest) => {
    if (isKnown.getStore() !== false || !hasRouteFor(request)) return fetch(request, ...rest);
    const answer = await askForCaller(request);
    if (!answer.headers.has(CALLER_HEADER)) return answer;
    return isKnown.run(true, () => fetch(request, ...rest));
  };
}
