import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { AddressPolicy } from '../network/address-policy';

const AWS_HOST = /(^|\.)amazonaws\.com(\.cn)?$/i;

/** The one answer for every address and name: differences would reveal what exists in the internal network. */
const REFUSED = 'this server does not connect to it, or its name has no address';

export class EndpointRefused extends Error {
  override readonly name = 'EndpointRefused';

  /** @param mayPass whether the same endpoint may be accepted later, since only its name was not found */
  constructor(
    message = REFUSED,
    readonly mayPass = false,
  ) {
    super(message);
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Judges the endpoints of stores that tenants name: before a connection, and on the addresses that it is about to use. */
export class EndpointPolicy {
  /** @param own the deployment's own store, which the operator has chosen, wherever it is */
  constructor(
    private readonly addresses: AddressPolicy,
    private readonly own: URL | undefined,
  ) {}

  isOwn(endpoint: URL): boolean {
    return endpoint.origin === this.own?.origin;
  }

  /**
   * Checks what can be known of an endpoint without a connection.
   * @throws {EndpointRefused}
   */
  check(endpoint: URL): void {
    if (this.isOwn(endpoint)) return;
    if (AWS_HOST.test(hostOf(endpoint))) {
      throw new EndpointRefused('endpoint_url must be omitted for AWS buckets; give the region');
    }
    this.checkAddress(endpoint);
  }

  /** Checks an endpoint that may be AWS's own. @throws {EndpointRefused} */
  checkAddress(endpoint: URL): void {
    const host = hostOf(endpoint);
    if (isIP(host) && !this.addresses.isAllowed(host)) throw new EndpointRefused();
  }

  /**
   * Name resolution for the connections to an endpoint; undefined for the system's. The address that is connected to is the
   * one that was judged, so a name that resolves to something else a moment later gains nothing.
   */
  lookupFor(endpoint: URL): LookupFunction | undefined {
    if (this.isOwn(endpoint)) return undefined;
    return (hostname, options, callback) => {
      lookup(hostname, { ...options, all: true }, (error, found) => {
        if (error) return callback(new EndpointRefused(REFUSED, true), '');
        if (!found.every(({ address }) => this.addresses.isAllowed(address)))
          return callback(new EndpointRefused(), '');
        if (options.all) return callback(null, found);
        const [first] = found;
        callback(null, first?.address ?? '', first?.family);
      });
    };
  }
}
