import type { FastifyInstance } from 'fastify';
import findMyWay from 'find-my-way';
import { ApiError } from './api-error';

/**
 * Distinguishes a path that exists for other methods from an unknown one: 405 with `Allow` (RFC 9110, section 15.5.6), as
 * clients of the deployment API expect. To be called before the routes are added.
 */
export function refuseWrongMethods(fastify: FastifyInstance): void {
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
    const found = request.is404 ? paths.find('GET', request.url.split('?', 1)[0]) : null;
    if (!found) return done();
    void reply.header('allow', [...(found.store as Set<string>)].sort().join(', '));
    done(new ApiError(405, 'method_not_allowed', 'Method Not Allowed'));
  });
}
