import helmet, { type FastifyHelmetOptions } from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';

type ContentSecurityPolicy = FastifyHelmetOptions['contentSecurityPolicy'];

/** Policy of answers with data: opened as a page, they load, run and embed nothing. */
const DATA_POLICY: ContentSecurityPolicy = {
  useDefaults: false,
  directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
};

/** The pages about the API: their own scripts, the styles inside them, and requests that are tried out in them. */
const docsPolicy = (connectTo: string[]): ContentSecurityPolicy => ({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'", ...connectTo],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
});

/** The console: its own scripts and styles, none inside the page, and requests to this server alone. */
const CONSOLE_POLICY: ContentSecurityPolicy = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    connectSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
};

/** A route of the console, by its pattern. */
export const isConsoleRoute = (route: string | undefined): boolean =>
  route !== undefined && /^\/console(\/|$)/.test(route);

/** A route of the pages about the API, by its pattern. */
export const isDocsRoute = (route: string | undefined): boolean =>
  route !== undefined && (route === '/openapi.json' || /^\/docs(\/|$)/.test(route));

/** Origins of the addresses that `auth.openapi` of langgraph.json names, from which the pages about the API fetch tokens. */
export function tokenOrigins(openapi: { securitySchemes: object } | undefined): string[] {
  const origins = new Set<string>();
  JSON.stringify(openapi?.securitySchemes ?? {}, (_, value: unknown) => {
    if (typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value))
      origins.add(new URL(value).origin);
    return value;
  });
  return [...origins];
}

/**
 * Headers that make browsers treat answers as data only. The user's own routes decide for themselves.
 * @param connectTo origins that the pages about the API may ask, beside this one
 */
export async function sendSecurityHeaders(fastify: FastifyInstance, connectTo: string[]): Promise<void> {
  const contentSecurityPolicy = docsPolicy(connectTo);
  await fastify.register(helmet, {
    contentSecurityPolicy: DATA_POLICY,
    frameguard: { action: 'deny' },
    // CORS decides who may read an answer; this header would forbid images of attachments in other pages.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // Only the proxy that terminates TLS knows whether the whole host uses it.
    strictTransportSecurity: false,
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    const { url } = request.routeOptions;
    if (isDocsRoute(url)) void reply.helmet({ contentSecurityPolicy });
    else if (isConsoleRoute(url)) void reply.helmet({ contentSecurityPolicy: CONSOLE_POLICY });
    done();
  });
}
