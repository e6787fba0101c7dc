import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/config';
import type { SealingContext } from './sealed-fields';

const FORMAT = 'v1';
/** A sealed value: the key's id, then nonce, tag and ciphertext in their lengths. */
const SEALED = /^v1\.([\w-]{8})\.([\w-]{16})\.([\w-]{22})\.([\w-]*)$/;
/** Prefix of a value that was passed on unopened. */
const CARRIED = 'gantry-carried:';

/** A value that this process can't open, and another one may: keys are added to one process after the other. */
export class UnknownSealingKey extends Error {
  constructor(id: string) {
    super(`Sealed under key ${id}, which is neither in GANTRY_SEALING_KEYS nor GANTRY_SECRET_KEY`);
    this.name = 'UnknownSealingKey';
  }
}

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

  /**
   * @throws {UnknownSealingKey} when the value was sealed under a key that isn't configured here
   * @throws {Error} when it was sealed for another row, or was changed
   */
  open(sealed: string, context: SealingContext): string {
    const [, id, nonce, tag, ciphertext] = SEALED.exec(sealed) ?? [];
    if (id === undefined) throw new Error('Not a sealed secret');
    const key = this.keys.get(id);
    if (!key) throw new UnknownSealingKey(id);
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'))
      .setAAD(Buffer.from(context))
      .setAuthTag(Buffer.from(tag, 'base64url'));
    return Buffer.concat([decipher.update(Buffer.from(ciphertext, 'base64url')), decipher.final()]).toString('utf8');
  }

  /**
   * The value; where this process lacks the key, a text from which `openCarried` gets it in a process that has the key.
   * @returns undefined where no key would open it
   */
  openOrCarry(sealed: string, context: SealingContext): string | undefined {
    try {
      return this.open(sealed, context);
    } catch (error) {
      return error instanceof UnknownSealingKey ? CARRIED + JSON.stringify([sealed, context]) : undefined;
    }
  }

  /** The value that `openOrCarry` returned or carried. @throws as `open` */
  openCarried(value: string): string {
    if (!isCarried(value)) return value;
    const [sealed, context] = JSON.parse(value.slice(CARRIED.length)) as [string, SealingContext];
    return this.open(sealed, context);
  }
}

/** Whether a value is still sealed under a key that the process which passed it on lacked. */
export function isCarried(value: string): boolean {
  return value.startsWith(CARRIED);
}

function keyId(key: Buffer): string {
  return createHash('sha256').update('key-id:').update(key).digest('base64url').slice(0, 8);
}
