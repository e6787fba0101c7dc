import { hkdfSync } from 'node:crypto';

/** A key of its own for each purpose: the master key seals secrets, and no key should do two things. */
export function deriveKey(secretKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, Buffer.alloc(0), purpose, 32));
}
