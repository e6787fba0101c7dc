import { Hono } from 'hono';
import { methodOverride } from 'hono/method-override';
import { streamSSE } from 'hono/streaming';

let aborted = 0;

/** A user's own routes, as `http.app` names them. */
export const app = new Hono();

app.use('*', async (context, next) => {
  await next();
  context.header('x-own-middleware', 'yes');
});

// Dispatches a request again, with a method of which the API knows nothing.
app.use('*', methodOverride({ app, header: 'x-method' }));

// Handlers that are registered in the same way as middleware.
app.all('/proxy/*', (context) => context.json({ proxied: context.req.path }));
app.all('/either/*', async (context, next) => {
  if (context.req.path === '/either/answer') return context.json({ answered: 'by a handler' });
  await next();
});
app.mount('/mounted', (request) => Response.json({ mounted: new URL(request.url).pathname.slice(1) }));
// A method that the API hasn't at a path of its own, and one at a path of the app's.
app.delete('/threads/search', (context) => context.json({ deleted: 'threads' }));
app.delete('/items', (context) => context.json({ deleted: 'items' }));

app.get('/hello/:name', (context) => context.json({ hello: context.req.param('name'), url: context.req.url }));
app.get('/headers', (context) => context.json(context.req.header()));
app.post('/echo', async (context) =>
  context.body(await context.req.arrayBuffer(), 200, { 'x-type': context.req.header('content-type') ?? '' }),
);
app.get('/stream', (context) =>
  streamSSE(context, async (stream) => {
    for (let index = 0; index < 3; index += 1) {
      await stream.writeSSE({ event: 'tick', data: String(index) });
      await stream.sleep(150);
    }
  }),
);
app.get('/endless', (context) => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('begun\n'));
    },
    cancel() {
      aborted += 1;
    },
  });
  return context.body(body);
});
app.get('/aborted', (context) => context.json({ aborted }));
app.get('/redirect', (context) => context.redirect('/hello/you', 302));
app.get('/broken', () => {
  throw new Error('The route is broken');
});
app.get('/stray', (context) => {
  setTimeout(() => {
    throw new Error('Outside of a request');
  });
  return context.text('threw');
});
app.get('/die', (context) => {
  setTimeout(() => process.exit(1), 20);
  return context.text('dying');
});
app.get('/block', (context) => {
  const until = Date.now() + 1_500;
  while (Date.now() < until);
  return context.text('blocked');
});
// Takes two of Gantry's paths: one that may be taken, and one that may not.
app.get('/info', (context) => context.json({ mine: true }));
app.get('/ok', (context) => context.json({ mine: true }));

/** An app that is only a function from Request to Response. */
export const plain = (request: Request): Response =>
  new URL(request.url).pathname === '/plain' ? new Response('plain') : new Response('not mine', { status: 404 });

export const notAnApp = { routes: [] };
