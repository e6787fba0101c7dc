import type { FastifyRequest } from 'fastify';

/**
 * The value of a header. Node joins repeated headers with a comma; for those that can't be joined, the first one is returned.
 * @param name in lower case
 */
export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
