import { type Context, Hono } from 'hono';
import type { PathReading } from './custom-app.protocol';
import type { InnerRequest } from './inner-fetch';

/** The request under each of Hono's own, as it came. */
const received = new WeakMap<Context['req'], Request>();

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD']);

/** An app of whichever copy of Hono the project has. */
export function isHonoApp(app: unknown): app is Hono {
  return (
    typeof app === 'object' &&
    app !== null &&
    'fetch' in app &&
    'errorHandler' in app &&
    'routes' in app &&
    Array.isArray(app.routes)
  );
}

/**
 * An app without routes, of the project's own copy of Hono, which alone knows what it has written into a request. It finds paths in
 * requests as the given app does.
 */
function emptyCopyOf(app: Hono): Hono {
  const { router } = new Hono();
  return new (hono(app))({ router, getPath: app.getPath });
}

/** Hono's class in the project's copy, and not a subclass of the project's own, which may take anything to be made. */
const hono = (app: Hono): typeof Hono => app.basePath('/').constructor as typeof Hono;

/** How the app reads paths; undefined if it does so by a function of its own. */
export function readingOf(app: Hono): PathReading | undefined {
  const { router } = app;
  const isOf = (strict: boolean): boolean => app.getPath === new (hono(app))({ router, strict }).getPath;
  return isOf(true) ? {} : isOf(false) ? { dropsLastSlash: true } : undefined;
}

/**
 * The app as it is served: what none of its handlers answers goes to the API, and the API's answer back through its
 * middleware. What the app does with paths that it doesn't know is left out, as on other servers of this API.
 */
export function inFrontOfApi(app: Hono, askApi: (request: InnerRequest) => Promise<Response>): Hono {
  const whole = emptyCopyOf(app);
  whole.use(async ({ req }, next) => {
    received.set(req, req.raw);
    await next();
  });
  whole.route('/', app);
  whole.all('*', async (context) => askApi(await passedOn(context)));
  return whole;
}

/** The request as the app's middleware left it. */
async function passedOn({ req }: Context): Promise<InnerRequest> {
  const { method, headers, signal, url } = req.raw;
  const { pathname, search } = new URL(url);
  return { method, path: pathname + search, headers, body: await bodyOf(req), signal };
}

async function bodyOf(req: Context['req']): Promise<InnerRequest['body']> {
  if (METHODS_WITHOUT_BODY.has(req.raw.method)) return null;
  // Middleware gives the body another content by a request of its own, by its own `json`, or where Hono keeps what it has read.
  if (req.raw !== received.get(req) && !req.raw.bodyUsed) return req.raw.body as InnerRequest['body'];
  if (Object.hasOwn(req, 'json')) return new TextEncoder().encode(JSON.stringify(await req.json()));
  if (Object.keys(req.bodyCache).length > 0) return new Uint8Array(await req.arrayBuffer());
  return req.raw.body as InnerRequest['body'];
}
