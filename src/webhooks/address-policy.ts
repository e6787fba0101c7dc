import ipaddr from 'ipaddr.js';

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** All unicast IPv6 in use. What lies outside (IPv4-compatible, site-local…) has names of its own only in part. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Public by its number, internal by its meaning: the metadata and DNS address of every Azure machine. */
const INTERNAL_ALTHOUGH_PUBLIC = [ipaddr.IPv4.parseCIDR('168.63.129.16/32')];

/** Which addresses a webhook may be sent to: public ones, and the networks that the operator opened. */
export class AddressPolicy {
  private readonly allowed: Network[];

  /** @throws {Error} naming every entry that is no network. */
  constructor(cidrs: readonly string[]) {
    const wrong = cidrs.filter((cidr) => !ipaddr.isValidCIDR(cidr));
    if (wrong.length > 0) throw new Error(`not in CIDR form: ${wrong.join(', ')}`);
    this.allowed = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  }

  /** Whether the operator opened the address's network. Only networks of the address's own family count. */
  isOpened(address: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    return contains(this.allowed, ipaddr.parse(address));
  }

  isAllowed(address: string): boolean {
    return this.isOpened(address) || this.classOf(address) === 'public';
  }

  /** What kind of address it is, in a word for people: `public` is the only one that is allowed as a rule. */
  classOf(address: string): string {
    if (!ipaddr.isValid(address)) return 'invalid';
    const parsed = ipaddr.parse(address);
    const range = parsed.range();
    if (range !== 'unicast') return range;
    if (parsed.kind() === 'ipv6' && !contains([GLOBAL_UNICAST_V6], parsed)) return 'reserved';
    return contains(INTERNAL_ALTHOUGH_PUBLIC, parsed) ? 'metadata' : 'public';
  }
}

function contains(networks: Network[], address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return networks.some((network) => network[0].kind() === address.kind() && address.match(network));
}
