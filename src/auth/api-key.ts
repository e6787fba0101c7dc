import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'gtry_';
const RANDOM_BYTES = 32;
const HINT_LENGTH = 4;

/**
 * A new key: prefix, 256 random bits, checksum. Prefix and checksum let a scanner of repositories distinguish a leaked key from
 * any other text: /gtry_[A-Za-z0-9_-]{49}/.
 */
export function generateApiKey(): string {
  const secret = randomBytes(RANDOM_BYTES).toString('base64url');
  return PREFIX + secret + checksum(secret);
}

/** The stored form: HMAC-SHA-256 with the deployment's secret. A leaked table gives no access and can't be searched. */
export function hashApiKey(secretKey: Buffer, key: string): Buffer {
  return createHmac('sha256', secretKey).update('api-key:').update(key).digest();
}

/** The form of a key in lists: `gtry_Ab3d…x9Yz`; for a key of another format, only the end. */
export function hintOf(key: string): string {
  const end = key.slice(-HINT_LENGTH);
  return key.startsWith(PREFIX) && key.length > 32 ? `${key.slice(0, PREFIX.length + HINT_LENGTH)}…${end}` : `…${end}`;
}

function checksum(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return bytes.toString('base64url');
}
