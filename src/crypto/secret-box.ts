import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/config';
import type { SealingContext } from './sealed-fields';

const FORMAT = 'v1';

/**
 * Secrets at rest: AES-256-GCM, written as `v1.<key id>.<nonce>.<tag>.<ciphertext>` (base64url). The key id says which
 * key opens a value: the first configured key seals, all of them open. The context (table, tenant, row) is authenticated
 * with it, so a ciphertext that was copied to another row doesn't open.
 */
@Injectable()
export class SecretBox {
  /** Prefix of every value that the current key sealed. */
  readonly currentPrefix: string;
  private readonly current: Buffer;
  private readonly keys: Map<string, Buffer>;

  constructor(config: AppConfig) {
    const keys = config.secrets.sealingKeys;
    this.current = keys[0];
    this.keys = new Map(keys.map((key) => [keyId(key), key]));
    this.currentPrefix = `${FORMAT}.${keyId(this.current)}.`;
  }

  seal(plaintext: string, context: SealingContext): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.current, nonce).setAAD(Buffer.from(context));
    const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    const parts = [nonce, cipher.getAuthTag(), ciphertext].map((part) => part.toString('base64url'));
    return this.currentPrefix + parts.join('.');
  }

  /** @throws {Error} when the value was sealed under a key that isn't configured, for another row, or was changed. */
  open(sealed: string, context: SealingContext): string {
    const [format, id, nonce, tag, ciphertext] = sealed.split('.');
    if (format !== FORMAT || nonce === undefined || tag === undefined || ciphertext === undefined) {
      throw new Error('Not a sealed secret');
    }
    const key = this.keys.get(id);
    if (!key) throw new Error(`Sealed under key ${id}, which is neither in GANTRY_SEALING_KEYS nor GANTRY_SECRET_KEY`);
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'))
      .setAAD(Buffer.from(context))
      .setAuthTag(Buffer.from(tag, 'base64url'));
    return Buffer.concat([decipher.update(Buffer.from(ciphertext, 'base64url')), decipher.final()]).toString('utf8');
  }

  /** The value, or undefined where `open` would throw: its key may be lost. */
  openIfPossible(sealed: string, context: SealingContext): string | undefined {
    try {
      return this.open(sealed, context);
    } catch {
      return undefined;
    }
  }
}

function keyId(key: Buffer): string {
  return createHash('sha256').update('key-id:').update(key).digest('base64url').slice(0, 8);
}
