import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from './api-error';
import { hostnameOf } from './loopback';

/** `http://host` in front of a path: the absolute form, which servers have to take as well (RFC 9112, section 3.2.2). */
const AUTHORITY = /^https?:\/\/([^/?#]*)/i;

/** Prefix of the paths to which requests are rewritten for the router; clients can't request it. */
export const INNER_PREFIX = '/.gantry/';

/**
 * The requested path of a target that may have been rewritten to an inner path: `/.gantry/app/%68ello` was `/%68ello`, which is
 * `/hello`. Needless escapes of letters, digits and `-._~` are removed, so that each path has one spelling.
 */
export function askedTarget(target: string): string {
  const asked = target.startsWith(INNER_PREFIX) ? target.slice(target.indexOf('/', INNER_PREFIX.length)) : target;
  const [path] = asked.split('?', 1);
  return path.replace(/%(2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi, unescaped) + asked.slice(path.length);
}

const unescaped = (escape: string): string => decodeURIComponent(escape);

/** The target of a request in origin form: path, and query if there is one. */
export function originForm(target: string): string {
  const [prefix] = AUTHORITY.exec(target) ?? [];
  if (prefix === undefined) return target;
  const rest = target.slice(prefix.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The path of a target as the router reads it: without a query, and with needless escapes. */
export function decodedPath(target: string): string {
  const [path] = originForm(target).split(/[?#]/, 1);
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    // The router refuses it.
    return path;
  }
}

/** The host of a request, with its port; `localhost` if there is none, or a proxy passes on an invalid one. */
export const hostOf = ({ host }: FastifyRequest): string => (hostnameOf(host) === undefined ? 'localhost' : host);

/**
 * Refuses requests with two hosts or an invalid one: in a URL that is built from it, a part of the host would be read as the
 * path. A proxy in front may have gone by one of two, and what is decided here about the other: pages that may ask, addresses
 * in answers, caches.
 */
export function refuseOddHosts(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ raw, originalUrl }, _reply, done) => {
    const hosts = hostsOf(raw, originalUrl);
    const [first] = hosts;
    if (!hosts.every((host) => host.toLowerCase() === first.toLowerCase())) {
      return done(new ApiError(400, 'two_hosts', 'The request names two hosts: send one, in one Host header'));
    }
    if (!first || hostnameOf(first) !== undefined) return done();
    done(new ApiError(400, 'invalid_host', 'The Host header must be a name or an address, with or without a port'));
  });
}

function hostsOf({ rawHeaders }: IncomingMessage, target: string): string[] {
  const [, authority] = AUTHORITY.exec(target) ?? [];
  const hosts = authority === undefined ? [] : [authority];
  let headers = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index].length !== 4 || rawHeaders[index].toLowerCase() !== 'host') continue;
    headers += 1;
    // Two headers are refused even if they are equal (RFC 9112, section 3.2).
    hosts.push(headers > 1 ? '' : rawHeaders[index + 1]);
  }
  return hosts;
}
