import type { FastifyRequest } from 'fastify';
import type { AuthRequest } from './protocol';
import { askedTarget, hostOf } from '../../http/request-target';

/** The request as the custom auth receives it. */
export function authRequestOf(request: FastifyRequest): AuthRequest {
  const { protocol, method, url, headers, params } = request;
  return {
    method,
    url: `${protocol}://${hostOf(request)}${askedTarget(url)}`,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value ?? '']).map((each): [string, string] => [name, each]),
    ),
    pathParams: (params ?? {}) as Record<string, string>,
  };
}
