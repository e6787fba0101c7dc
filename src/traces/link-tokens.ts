import { createHash, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SecretBox } from '../crypto/secret-box';
import type { SealingContext } from '../crypto/sealed-fields';

/** A new token as it is stored. */
export interface StoredToken {
  hash: Buffer;
  sealed: string;
}

/**
 * Tokens in public links. Random UUIDs (122 bits), because clients accept nothing else. They are found by their SHA-256 and
 * stored sealed beside it, so that the link can be shown again to its creator.
 */
@Injectable()
export class LinkTokens {
  constructor(private readonly secrets: SecretBox) {}

  /** @param context the row that the token belongs to */
  create(context: SealingContext): StoredToken & { token: string } {
    const token = randomUUID();
    return { token, hash: this.hashOf(token), sealed: this.secrets.seal(token, context) };
  }

  open(sealed: string, context: SealingContext): string {
    return this.secrets.open(sealed, context);
  }

  hashOf(token: string): Buffer {
    return createHash('sha256').update(token.toLowerCase()).digest();
  }
}
