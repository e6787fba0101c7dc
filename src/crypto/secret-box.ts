import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/config';

const FORMAT = 'v1';

/**
 * Secrets at rest: AES-256-GCM, written as `v1.<key id>.<nonce>.<tag>.<ciphertext>` (base64url). The key id tells which
 * key opens a value once keys rotate. The context (table, tenant, row) is authenticated with it, so a ciphertext that was
 * copied to another row doesn't open.
 */
@Injectable()
export class SecretBox {
  private readonly key: Buffer;
  private readonly keyId: string;

  constructor(config: AppConfig) {
    this.key = config.secretKey;
    this.keyId = createHash('sha256').update('key-id:').update(this.key).digest('base64url').slice(0, 8);
  }

  seal(plaintext: string, context: string): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(Buffer.from(context));
    const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    const parts = [nonce, cipher.getAuthTag(), ciphertext].map((part) => part.toString('base64url'));
    return [FORMAT, this.keyId, ...parts].join('.');
  }

  /** @throws {Error} when the value was sealed under another key, for another row, or was changed. */
  open(sealed: string, context: string): string {
    const [format, keyId, nonce, tag, ciphertext] = sealed.split('.');
    if (format !== FORMAT || nonce === undefined || tag === undefined || ciphertext === undefined) {
      throw new Error('Not a sealed secret');
    }
    if (keyId !== this.keyId) throw new Error(`Sealed under key ${keyId}; GANTRY_SECRET_KEY is key ${this.keyId}`);
    const decipher = createDecipheriv('aes-256-gcm', this.key, Buffer.from(nonce, 'base64url'))
      .setAAD(Buffer.from(context))
      .setAuthTag(Buffer.from(tag, 'base64url'));
    return Buffer.concat([decipher.update(Buffer.from(ciphertext, 'base64url')), decipher.final()]).toString('utf8');
  }
}
