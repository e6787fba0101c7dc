/**
 * The entry point of the process of `http.app`: the user's own routes and middleware run here and nowhere else, so that code
 * which blocks its event loop, or throws outside of a request, stops no route of Gantry that it has nothing to do with, and
 * without the api's memory.
 */
import { createAdaptorServer } from '@hono/node-server';
import { keepCompiledCode } from '../config/compiled-code';
import { returnUnusedMemory } from '../config/unused-memory';
import { connectToParent, type ParentChannel } from '../graphs/host/parent-channel';
import { registerSdkClient } from '../graphs/host/sdk-client';
import { registerSdkLogger } from '../graphs/host/sdk-logger';
import { importExport } from '../graphs/host/user-module';
import { userCodeScope } from '../graphs/host/user-code-scope';
import { initializeResponses } from '../patches/hono-node-server/initialized-responses';
import { callerOf } from './caller';
import {
  type AppRoute,
  type AppProcessData,
  CALLER_PATH,
  type FromAppProcess,
  type PathReading,
} from './custom-app.protocol';
import { fetchInner } from './inner-fetch';
import { inFrontOfApi, isHonoApp, readingOf } from './middleware';
import { gated, routesOf, servedFor } from './route-gate';

/** Maximum size of a request's headers: the api has accepted them, and adds the user of a custom auth. */
const MAX_HEADER_BYTES = 256 * 1024;

type Fetch = (request: Request, ...rest: unknown[]) => Response | Promise<Response>;

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** An app of Hono or of any library with a `fetch` method, or a function from Request to Response. */
function fetchOf(app: unknown, { file, exportName, innerSocketPath }: AppProcessData): Fetch {
  if (isHonoApp(app)) {
    const whole = inFrontOfApi(app, (request) => fetchInner(innerSocketPath, request));
    const askForCaller = ({ method, headers, url, signal }: Request): Promise<Response> => {
      const { pathname, search } = new URL(url);
      return fetchInner(innerSocketPath, {
        method,
        path: CALLER_PATH + pathname + search,
        headers,
        body: null,
        signal,
      });
    };
    app.fetch = gated(app, askForCaller, app.fetch);
    const fetch = gated(app, askForCaller, whole.fetch);
    return (request, ...rest) => servedFor(request, () => fetch(request, ...(rest as [object])));
  }
  if (typeof app === 'function') return app as Fetch;
  if (typeof app === 'object' && app !== null && 'fetch' in app && typeof app.fetch === 'function') {
    const { fetch } = app as { fetch: Fetch };
    return (...args) => fetch.apply(app, args);
  }
  throw new Error(`${file}: "${exportName}" has no fetch method and is not a function from Request to Response`);
}

/** Facts about an app that the API has to know: its routes if it has a table of them, and how it reads paths. */
function described(app: unknown): PathReading & { routes?: AppRoute[] } {
  if (!isHonoApp(app)) return {};
  const reading = readingOf(app);
  // Where only the app can read a path, it is given every request, and asks who makes those that are for its routes.
  const all: AppRoute[] = reading ? [] : [{ method: 'ALL', path: '*', part: 'either' }];
  return { routes: [...all, ...routesOf(app)], ...reading };
}

/** `new Client()` in a route acts for the one who asked for the route. */
function knowingCaller(fetch: Fetch): Fetch {
  return (request, ...rest) => {
    const requestId = request.headers.get('x-request-id');
    const fields: Record<string, string> = requestId === null ? {} : { request_id: requestId };
    return userCodeScope.run({ fields, credentials: callerOf(request.headers) }, () => fetch(request, ...rest));
  };
}

async function main(data: AppProcessData, { send }: ParentChannel<never, FromAppProcess>): Promise<void> {
  const { file, exportName, socketPath, innerSocketPath } = data;
  const stray = (error: unknown): void => send({ type: 'stray', message: textOf(error) });
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);
  registerSdkLogger(send);
  registerSdkClient('http://localhost', async (input, init = {}) => {
    const { method, url, headers, body, signal } = new Request(input, init);
    const { pathname, search } = new URL(url);
    return fetchInner(innerSocketPath, { method, path: pathname + search, headers, body, signal });
  });
  const app = await importExport({ file, exportName });
  if (app === undefined) throw new Error(`${file} has no export "${exportName}"`);
  // With the adaptor's own Request in place of Node's, which middleware copies by `new Request(context.req.raw)`.
  const server = createAdaptorServer({
    fetch: knowingCaller(fetchOf(app, data)),
    serverOptions: { maxHeaderSize: MAX_HEADER_BYTES },
  });
  initializeResponses();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  send({ type: 'ready', ...described(app) });
  keepCompiledCode();
  returnUnusedMemory();
}

void connectToParent<AppProcessData, never, FromAppProcess>().then(([data, channel]) =>
  main(data, channel).catch((error: unknown) => {
    channel.send({ type: 'unusable', message: error instanceof Error ? error.message : String(error) });
  }),
);
