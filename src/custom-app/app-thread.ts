/**
 * The entry point of the thread of `http.app`: the user's own routes run here and nowhere else, so that code which blocks
 * its event loop, or throws outside of a request, stops no route of Gantry.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { createAdaptorServer } from '@hono/node-server';
import { importExport } from '../graphs/host/user-module';
import type { AppRoute, AppThreadData, FromAppThread } from './custom-app.protocol';

type Fetch = (request: Request, ...rest: unknown[]) => Response | Promise<Response>;

const port = parentPort!;
const { file, exportName, socketPath } = workerData as AppThreadData;

function send(message: FromAppThread): void {
  port.postMessage(message);
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** An app of Hono or of any library with a `fetch` method, or a function from Request to Response. */
function fetchOf(app: unknown): Fetch {
  if (typeof app === 'function') return app as Fetch;
  if (typeof app === 'object' && app !== null && 'fetch' in app && typeof app.fetch === 'function') {
    const { fetch } = app as { fetch: Fetch };
    return (...args) => fetch.apply(app, args);
  }
  throw new Error(`${file}: "${exportName}" has no fetch method and is no function from Request to Response`);
}

function routesOf(app: unknown): AppRoute[] {
  const routes = (app as { routes?: unknown }).routes;
  if (!Array.isArray(routes)) return [];
  return (routes as Partial<AppRoute>[]).flatMap(({ method, path }) =>
    typeof method === 'string' && typeof path === 'string' ? [{ method, path }] : [],
  );
}

async function main(): Promise<void> {
  const stray = (error: unknown): void => send({ type: 'stray', message: textOf(error) });
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);
  const app = await importExport({ file, exportName });
  if (app === undefined) throw new Error(`${file} has no export "${exportName}"`);
  const server = createAdaptorServer({ fetch: fetchOf(app), overrideGlobalObjects: false });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  send({ type: 'ready', routes: routesOf(app) });
}

main().catch((error: unknown) => {
  send({ type: 'unusable', message: error instanceof Error ? error.message : String(error) });
});
