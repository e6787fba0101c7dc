import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * The name or the address in a Host header; undefined if it is invalid.
 * @param host with or without a port
 */
export function hostnameOf(host: string): string | undefined {
  if (/[/?#@\\\s]/.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  return new URL(`http://${host}`).hostname;
}

/** Whether a name or an address, as `hostnameOf` returns it, means this machine alone. */
export function isLoopbackName(hostname: string | undefined): boolean {
  if (hostname === undefined) return false;
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return true;
  const address = hostname.replace(/^\[|\]$/g, '');
  const version = isIP(address);
  return version !== 0 && LOOPBACK.check(address, version === 4 ? 'ipv4' : 'ipv6');
}
