import { type Context, Hono } from 'hono';
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
 * The app as it is served: what none of its handlers answers goes to the API, and the API's answer back through its
 * middleware. What the app does with paths that it doesn't know is left out, as on other servers of this API.
 */
export function inFrontOfApi(app: Hono, askApi: (request: InnerRequest) => Promise<Response>): Hono {
  const whole = new Hono();
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
