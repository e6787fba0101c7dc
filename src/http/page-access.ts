import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AppConfig } from '../config/config';
import type { CorsSettings } from '../config/http-settings';
import { ApiError } from './api-error';
import { hostnameOf, isLoopbackName } from './loopback';
import { isConsoleRoute, isDocsRoute } from './security-headers';

/** Hosted front ends that developers point at a server of their own machine: Studio, in each region, and Agent Chat UI. */
const FRONT_ENDS = [
  'https://smith.langchain.com',
  'https://eu.smith.langchain.com',
  'https://apac.smith.langchain.com',
  'https://aws.smith.langchain.com',
  'https://agentchat.vercel.app',
];

/** An origin that no operator intends: a pattern that matches it allows every page, as `*` does. */
const UNRELATED_ORIGIN = 'https://nobody.invalid';

type PageSettings = Pick<AppConfig['http'], 'allowedOrigins' | 'apiUrl' | 'publicUrl'>;

/**
 * Decides which pages may use an API without keys. A browser lets any page send requests to the machine it runs on: CORS only
 * hides the answers, and not even those from a page whose name resolves to this machine (DNS rebinding). So requests are
 * refused because of headers that only browsers send.
 */
export class PageAccess {
  private readonly origins: ReadonlySet<string>;
  private readonly patterns: readonly RegExp[];
  private readonly hosts: ReadonlySet<string>;

  constructor({ allowedOrigins, apiUrl, publicUrl }: PageSettings, cors: CorsSettings) {
    const own = [apiUrl, ...(publicUrl === undefined ? [] : [publicUrl])].map((url) => new URL(url));
    const named = cors.origins.filter((each) => typeof each === 'string');
    this.origins = new Set([...FRONT_ENDS, ...allowedOrigins, ...own.map(({ origin }) => origin), ...named]);
    this.patterns = cors.origins
      .filter((each) => typeof each !== 'string')
      .filter((each) => !each.test(UNRELATED_ORIGIN));
    this.hosts = new Set([...own, ...allowedOrigins.map((origin) => new URL(origin))].map(({ hostname }) => hostname));
  }

  /** @throws {ApiError} 403 */
  check({ headers, method, routeOptions }: FastifyRequest): void {
    // All browsers send it; HTTP/1.0 requests without it are probes.
    if (headers.host !== undefined && !this.isOwnHost(headers.host)) {
      throw refusal('host_not_allowed', 'this API does not answer to this host name');
    }
    if (headers.origin !== undefined) {
      if (this.admits(headers.origin)) return;
      throw refusal('origin_not_allowed', 'pages of this origin may not use this API');
    }
    if (headers['sec-fetch-site'] !== 'cross-site') return;
    const isFollowedLink = method === 'GET' && headers['sec-fetch-dest'] === 'document';
    if (isFollowedLink && (isDocsRoute(routeOptions.url) || isConsoleRoute(routeOptions.url))) return;
    throw refusal('origin_not_allowed', 'pages of other sites may not use this API');
  }

  admits(origin: string): boolean {
    if (this.origins.has(origin) || this.patterns.some((pattern) => pattern.test(origin))) return true;
    const hostname = /^https?:\/\/([^/?#@\\\s]+)$/i.exec(origin)?.[1];
    return hostname !== undefined && isLoopbackName(hostnameOf(hostname));
  }

  private isOwnHost(host: string): boolean {
    const hostname = hostnameOf(host);
    return isLoopbackName(hostname) || (hostname !== undefined && this.hosts.has(hostname));
  }
}

function refusal(code: string, what: string): ApiError {
  const wayOut = 'name the origin in GANTRY_ALLOWED_ORIGINS, or set GANTRY_AUTH=on';
  return new ApiError(403, code, `Without authentication ${what}: ${wayOut}`);
}

/** Applies it to every request, handshakes and unanswered preflights included. */
export function refuseForeignPages(fastify: FastifyInstance, access: PageAccess): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    access.check(request);
    done();
  });
}
