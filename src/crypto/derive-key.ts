import { hkdfSync } from 'node:crypto';

const derived = new WeakMap<Buffer, Map<string, Buffer>>();

/** A key of its own for each purpose: the master key seals secrets, and no key should do two things. */
export function deriveKey(secretKey: Buffer, purpose: string): Buffer {
  const keys = derived.get(secretKey) ?? new Map<string, Buffer>();
  derived.set(secretKey, keys);
  const key = keys.get(purpose) ?? Buffer.from(hkdfSync('sha256', secretKey, Buffer.alloc(0), purpose, 32));
  keys.set(purpose, key);
  return key;
}
