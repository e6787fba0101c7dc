import type { FastifyRequest } from 'fastify';
import type { AuthRequest } from './protocol';
import { askedTarget } from '../../http/request-target';

/** What the custom auth gets of a request. */
export function authRequestOf({ protocol, host, method, url, headers }: FastifyRequest): AuthRequest {
  return {
    method,
    url: `${protocol}://${host}${askedTarget(url)}`,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value ?? '']).map((each): [string, string] => [name, each]),
    ),
  };
}
