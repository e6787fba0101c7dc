import { Hono } from 'hono';

/** Apps that find the path of a request in different ways. */
export const strict = new Hono().get('/plain', (context) => context.text('plain'));

export const lenient = new Hono({ strict: false }).get('/plain', (context) => context.text('plain'));

/** Routes of hosts, as Hono's pages show them. */
export const ofHosts = new Hono({ getPath: ({ url }) => url.replace(/^https?:\/([^?]+).*$/, '$1') }).get(
  '/localhost/plain',
  (context) => context.text('plain'),
);
