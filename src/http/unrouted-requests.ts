import type { FastifyInstance, FastifyRequest } from 'fastify';
import findMyWay from 'find-my-way';
import { ApiError } from './api-error';

/** The last segment of a path that ends in a slash. */
const BEFORE_SLASH = /\/([^/?#]+)\/(?=[?#]|$)/;

/**
 * Answers requests whose path leads somewhere with another method or without its last slash, as clients of the deployment API
 * expect: 405 with `Allow` (RFC 9110, section 15.5.6), and 307 to the path without the slash. All others stay unknown. To be
 * called before the routes are added, and after the hooks whose headers the answers must carry (CORS).
 */
export function answerUnrouted(fastify: FastifyInstance): void {
  // A separate router of paths regardless of methods, since Fastify's finds nothing for a wrong method.
  const paths = findMyWay();
  const methodsByPath = new Map<string, Set<string>>();
  fastify.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return;
    // Parameters have other names in other controllers, and are the same path. A double colon is one of the path itself.
    const path = url.replace(/(?<!:):(?!:)\w+/g, ':parameter');
    const methods = methodsByPath.get(path) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    if (methodsByPath.has(path)) return;
    methodsByPath.set(path, methods);
    paths.on('GET', path, () => undefined, methods);
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const [path] = request.url.split('?', 1);
    const found = paths.find('GET', path);
    if (found) {
      void reply.header('allow', [...(found.store as Set<string>)].sort().join(', '));
      return done(new ApiError(405, 'method_not_allowed', 'Method Not Allowed'));
    }
    const location = path.endsWith('/') && paths.find('GET', path.slice(0, -1)) ? withoutSlash(request) : undefined;
    if (location === undefined) return done();
    void reply.code(307).header('location', location).send();
  });
}

/**
 * Relative to the requested path: it can't name another host, and holds whatever prefix a proxy or langgraph.json gives the
 * server.
 */
function withoutSlash({ originalUrl }: FastifyRequest): string | undefined {
  const found = BEFORE_SLASH.exec(originalUrl);
  return found ? `../${found[1]}${originalUrl.slice(found.index + found[0].length)}` : undefined;
}
