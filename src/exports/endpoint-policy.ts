import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Ranges that no object store lives in, whatever the configuration: link-local holds the metadata services. */
const NEVER = new Set(['linkLocal', 'unspecified', 'broadcast', 'multicast', 'reserved']);
const PRIVATE = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal']);
/** Metadata services outside the link-local range. */
const METADATA = new Set(['fd00:ec2::254', '100.100.100.200', '168.63.129.16', '192.0.0.192']);
const AWS_HOST = /(^|\.)amazonaws\.com(\.cn)?$/i;

export class EndpointRefused extends Error {
  override readonly name = 'EndpointRefused';
}

/**
 * Why `address` may not be connected to, or undefined when it may.
 * An IPv4 address written in IPv6 form is judged as the IPv4 address it is.
 */
export function refusalOf(address: string, allowPrivate: boolean): string | undefined {
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (NEVER.has(range) || METADATA.has(parsed.toString())) return `${address} is a metadata or link-local address`;
  if (range === 'unicast') return undefined;
  if (PRIVATE.has(range)) return allowPrivate ? undefined : `${address} is a private address`;
  return `${address} is not a public address (${range})`;
}

/**
 * Checks what can be known of an endpoint without a connection.
 * @throws {EndpointRefused} with the reason.
 */
export function checkEndpoint(endpoint: URL, allowPrivate: boolean): void {
  const host = endpoint.hostname.replace(/^\[|\]$/g, '');
  if (AWS_HOST.test(host)) throw new EndpointRefused('endpoint_url must be omitted for AWS buckets; give the region');
  if (!isIP(host)) return;
  const reason = refusalOf(host, allowPrivate);
  if (reason) throw new EndpointRefused(reason);
}

/**
 * Name resolution for the connections to an endpoint: the address that is connected to is the one that was checked, so a
 * name that resolves to something else a moment later gains nothing.
 */
export function guardedLookup(allowPrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      for (const { address } of addresses) {
        const reason = refusalOf(address, allowPrivate);
        if (reason) return callback(new EndpointRefused(`${hostname}: ${reason}`), '');
      }
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      callback(null, first?.address ?? '', first?.family);
    });
  };
}
