import { createHmac, hkdfSync } from 'node:crypto';

/** The actor of a change, as the audit log records it. */
export interface Actor {
  /** `key`: an API key. `user`: a user of the custom auth. `operator`: the admin key. `cli`: the command line. `internal`: Gantry's own processes. `none`: auth is off. */
  kind: 'key' | 'user' | 'operator' | 'cli' | 'internal' | 'none';
  /** Id of the key or of the user. */
  id?: string;
  /** Address of the caller, in the form that the setting specifies. */
  address?: string;
}

export type AddressPolicy = 'hashed' | 'full' | 'off';

/** Number of addresses whose hashes are kept: computing one takes a twentieth of the time of a short request. */
const KEPT_HASHES = 1_000;

/** Form of stored addresses: equal addresses have equal hashes, which can't be reversed without the secret key. */
export class AddressKeeper {
  private readonly key: Buffer;
  private readonly hashes = new Map<string, string>();

  constructor(
    private readonly policy: AddressPolicy,
    secretKey: Buffer,
  ) {
    this.key = Buffer.from(hkdfSync('sha256', secretKey, Buffer.alloc(0), 'gantry audit address', 32));
  }

  keep(address: string): string | undefined {
    if (this.policy === 'off') return undefined;
    if (this.policy === 'full') return address;
    return this.hashes.get(address) ?? this.hash(address);
  }

  private hash(address: string): string {
    const hash = createHmac('sha256', this.key).update(address).digest('hex').slice(0, 16);
    if (this.hashes.size >= KEPT_HASHES) this.hashes.clear();
    this.hashes.set(address, hash);
    return hash;
  }
}
