import ipaddr from 'ipaddr.js';

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** All unicast IPv6 in use. What lies outside (IPv4-compatible, site-local…) has names of its own only in part. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');
/**
 * Where clouds answer questions about a machine, and give out its credentials. Some are public by their number, others lie
 * in networks that an operator may open for another reason.
 */
const METADATA = [
  '169.254.169.254/32',
  '169.254.170.2/32',
  '169.254.170.23/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::254/128',
  'fd00:ec2::23/128',
  'fd20:ce::254/128',
].map((cidr) => ipaddr.parseCIDR(cidr));

/**
 * Which addresses this server may be sent to by its callers: public ones, and the networks that the operator opened.
 *
 * An address that holds another one (IPv4-mapped and IPv4-compatible IPv6, NAT64, 6to4, Teredo) is never public: what it
 * reaches depends on the machine's routes.
 */
export class AddressPolicy {
  private readonly allowed: Network[];

  /** @throws {Error} naming every entry that is no network. */
  constructor(cidrs: readonly string[]) {
    const wrong = cidrs.filter((cidr) => !ipaddr.isValidCIDR(cidr));
    if (wrong.length > 0) throw new Error(`not in CIDR form: ${wrong.join(', ')}`);
    this.allowed = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  }

  /**
   * Whether the operator opened the address's network. Only networks of the address's own family count, and for a metadata
   * address only an entry for that very address.
   */
  isOpened(address: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.parse(address);
    if (!contains(METADATA, parsed)) return contains(this.allowed, parsed);
    const whole = parsed.kind() === 'ipv4' ? 32 : 128;
    const single = this.allowed.filter(([, prefix]) => prefix === whole);
    return contains(single, parsed);
  }

  isAllowed(address: string): boolean {
    return this.isOpened(address) || this.classOf(address) === 'public';
  }

  /** Kind of an address, as a word for people: by default only `public` is allowed. */
  classOf(address: string): string {
    if (!ipaddr.isValid(address)) return 'invalid';
    const parsed = ipaddr.parse(address);
    if (contains(METADATA, parsed)) return 'metadata';
    const range = parsed.range();
    if (range !== 'unicast') return range;
    return parsed.kind() === 'ipv6' && !contains([GLOBAL_UNICAST_V6], parsed) ? 'reserved' : 'public';
  }
}

function contains(networks: Network[], address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return networks.some((network) => network[0].kind() === address.kind() && address.match(network));
}
