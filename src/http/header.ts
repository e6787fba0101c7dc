import type { FastifyRequest } from 'fastify';

/** The value of a header, the first one of several. @param name in lower case */
export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
