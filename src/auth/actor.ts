import { createHmac, hkdfSync } from 'node:crypto';

/** Who does something, as the audit log records it. */
export interface Actor {
  /** `key`: an API key. `user`: a user of the custom auth. `operator`: the admin key. `cli`: the command line. `internal`: Gantry's own processes. `none`: auth is off. */
  kind: 'key' | 'user' | 'operator' | 'cli' | 'internal' | 'none';
  /** Id of the key or of the user. */
  id?: string;
  /** Where it came from, as the setting for addresses has it. */
  address?: string;
}

export type AddressPolicy = 'hashed' | 'full' | 'off';

/** How addresses are kept: hashed ones are equal for equal addresses, which can't be found without the secret key. */
export class AddressKeeper {
  private readonly key: Buffer;

  constructor(
    private readonly policy: AddressPolicy,
    secretKey: Buffer,
  ) {
    this.key = Buffer.from(hkdfSync('sha256', secretKey, Buffer.alloc(0), 'gantry audit address', 32));
  }

  keep(address: string): string | undefined {
    if (this.policy === 'off') return undefined;
    if (this.policy === 'full') return address;
    return createHmac('sha256', this.key).update(address).digest('hex').slice(0, 16);
  }
}
