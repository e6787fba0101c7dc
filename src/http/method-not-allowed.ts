import type { FastifyInstance } from 'fastify';
import findMyWay from 'find-my-way';
import { ApiError } from './api-error';

/**
 * Distinguishes a path that is there, for other methods, from one that isn't: 405 with `Allow` (RFC 9110, section 15.5.6), as
 * clients of the deployment API expect. To be called before the routes are added.
 */
export function refuseWrongMethods(fastify: FastifyInstance): void {
  // A router of its own in which a route is a path, whatever its methods: Fastify's finds nothing for a wrong one.
  const paths = findMyWay();
  const methodsByPath = new Map<string, Set<string>>();
  fastify.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return;
    // Parameters have other names in other controllers, and are the same path.
    const path = url.replace(/:\w+/g, ':parameter');
    const methods = methodsByPath.get(path) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    if (methodsByPath.has(path)) return;
    methodsByPath.set(path, methods);
    paths.on('GET', path, () => undefined, methods);
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    const found = request.is404 ? paths.find('GET', request.url.split('?', 1)[0]) : null;
    if (!found) return done();
    void reply.header('allow', [...(found.store as Set<string>)].sort().join(', '));
    done(new ApiError(405, 'method_not_allowed', 'Method Not Allowed'));
  });
}
