import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Injectable } from '@nestjs/common';
import { ResolutionError, WebhookResolver } from './webhook-resolver';
import { webhookErrors } from './webhook.errors';
import { WebhookSettings } from './webhook-settings';
import { atMost, LATE } from '../time/at-most';

/** Destination of a webhook: a path of this server, or an external URL. */
export type Destination =
  | { kind: 'internal'; path: string }
  | {
      kind: 'external';
      url: URL;
      /** Only an address in GANTRY_WEBHOOK_ALLOW_CIDRS makes the port right. */
      needsOpenedAddress: boolean;
    };

/** Host under which deliveries to this server itself are listed. */
export const INTERNAL_HOST = 'internal';

const DEFAULT_PORTS: readonly number[] = [443, 80];
const UNREACHABLE = 'the host has no address that webhooks may be sent to';
/** Time limit of the check at creation, which must not wait as long as name servers may take. */
const CREATION_LOOKUP_MS = 3_000;

/** The connection was refused before it began, since webhooks may not be sent to an address of the host. */
export class AddressRefusedError extends Error {
  constructor() {
    super(UNREACHABLE);
    this.name = 'AddressRefusedError';
  }
}

/**
 * The only policy for webhook URLs: applied when a run is created, and for each connection to the addresses that it is about to
 * use.
 *
 * A URL must be written plainly: an address in octal, a host in full-width letters or a backslash is refused because of its
 * spelling, since no receiver needs one.
 */
@Injectable()
export class WebhookPolicy {
  constructor(
    private readonly settings: WebhookSettings,
    private readonly resolver: WebhookResolver,
  ) {}

  /**
   * Checks a URL before anything is stored. A name that can't be resolved and one that resolves to an internal address get the
   * same answer, so that internal names can't be mapped by requests. If name servers don't answer at all, the URL passes, since
   * every connection is checked again.
   * @throws {ApiError} 422 naming `field` and the rule that was broken.
   */
  async check(url: string, field = 'webhook'): Promise<void> {
    const destination = this.parse(url, field);
    if (destination.kind === 'internal' || isLiteral(destination.url)) return;
    try {
      await within(CREATION_LOOKUP_MS, this.addressesOf(destination));
    } catch (error) {
      if (error instanceof ResolutionError && error.temporary && !destination.needsOpenedAddress) return;
      throw webhookErrors.refusedUrl(
        destination.needsOpenedAddress ? this.portRule(destination.url) : UNREACHABLE,
        field,
      );
    }
  }

  /**
   * Checks everything except the addresses of a name.
   * @throws {ApiError} 422 naming `field` and the rule that was broken.
   */
  parse(url: string, field = 'webhook'): Destination {
    const { url: rules } = this.settings.config;
    const refused = (rule: string) => webhookErrors.refusedUrl(rule, field);
    if (url.length > rules.maxLength) throw refused(`the URL is longer than ${rules.maxLength} characters`);
    if (!/^[\x21-\x7e]+$/.test(url))
      throw refused('the URL must be written in ASCII, without blanks (IDN hosts as xn--…)');
    if (url.includes('\\')) throw refused('the URL must not hold a backslash');
    if (url.startsWith('/')) {
      if (url.startsWith('//')) throw refused('a URL without a scheme must be a path (/…) of this server');
      if (rules.disableLoopback) throw refused('relative URLs are turned off (webhooks.url.disable_loopback)');
      return { kind: 'internal', path: internalPath(url) };
    }
    const written = /^(https?):\/\/([^/?#]+)/i.exec(url);
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (!written || !parsed) throw refused('must be an http:// or https:// URL, or a path (/…) of this server');
    if (rules.requireHttps && parsed.protocol !== 'https:') throw refused('must be https (webhooks.url.require_https)');
    const authority = written[2] ?? '';
    if (authority.includes('@')) throw refused('the URL must not hold a user name or password');
    if (authority.replace(/:\d*$/, '').toLowerCase() !== parsed.hostname) {
      throw refused('the host must be written plainly: a name, a.b.c.d, or a shortest-form [IPv6]');
    }
    return { kind: 'external', url: parsed, needsOpenedAddress: this.judgeHost(parsed, refused) };
  }

  /**
   * All addresses of the destination, each of them allowed: a host that answers with an allowed and an internal address
   * is refused whole.
   * @throws {ResolutionError | AddressRefusedError}
   */
  async addressesOf(destination: Extract<Destination, { kind: 'external' }>): Promise<LookupAddress[]> {
    const { addresses } = this.settings;
    const found = await this.resolver.resolve(destination.url.hostname);
    const allowed = found.every(({ address }) =>
      destination.needsOpenedAddress ? addresses.isOpened(address) : addresses.isAllowed(address),
    );
    if (found.length === 0 || !allowed) throw new AddressRefusedError();
    return found;
  }

  /** The lookup of a connection: the socket gets exactly the checked addresses, and no name. */
  lookupFor(destination: Extract<Destination, { kind: 'external' }>): LookupFunction {
    return (_hostname, options, callback) => {
      this.addressesOf(destination).then(
        (found) => {
          const [first] = found;
          if (options.all) callback(null, found);
          else callback(null, first?.address ?? '', first?.family);
        },
        (error: Error) => callback(error, '', 0),
      );
    };
  }

  /** Returns whether the port is only allowed for addresses in GANTRY_WEBHOOK_ALLOW_CIDRS. */
  private judgeHost(url: URL, refused: (rule: string) => Error): boolean {
    const { config, addresses } = this.settings;
    const host = url.hostname.replace(/\.$/, '');
    const { allowedDomains, allowedPorts } = config.url;
    if (allowedDomains.length > 0 && !allowedDomains.some((domain) => matchesDomain(host, domain))) {
      throw refused('the host is not in webhooks.url.allowed_domains');
    }
    const port = portOf(url);
    const portAllowed = (allowedPorts ?? DEFAULT_PORTS).includes(port);
    if (!portAllowed && allowedPorts) throw refused(this.portRule(url));
    if (!isLiteral(url)) return !portAllowed;
    const address = bareAddress(url);
    if (!addresses.isAllowed(address)) {
      throw refused(`${addresses.classOf(address)} addresses are refused (GANTRY_WEBHOOK_ALLOW_CIDRS opens networks)`);
    }
    if (!portAllowed && !addresses.isOpened(address)) throw refused(this.portRule(url));
    return !portAllowed;
  }

  private portRule(url: URL): string {
    const ports = this.settings.config.url.allowedPorts ?? DEFAULT_PORTS;
    return `port ${portOf(url)} is not in webhooks.url.allowed_ports (${ports.join(', ')})`;
  }
}

function internalPath(url: string): string {
  const { pathname, search } = new URL(url, 'http://internal');
  return pathname + search;
}

function matchesDomain(host: string, domain: string): boolean {
  return domain.startsWith('*.') ? host.endsWith(domain.slice(1)) && host.length > domain.length - 1 : host === domain;
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function bareAddress(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function isLiteral(url: URL): boolean {
  return isIP(bareAddress(url)) !== 0;
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const result = await atMost(ms, work);
  if (result === LATE) throw new ResolutionError(true);
  return result;
}
