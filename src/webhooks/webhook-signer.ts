import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** Standard Webhooks asks for 24 to 64 bytes after `whsec_`. */
const KEY_BYTES = { min: 24, max: 64 };

interface Key {
  id: string;
  webhook: Webhook;
}

/** Signs with every configured secret: while a secret is being replaced, receivers accept the old and the new one. */
export class WebhookSigner {
  private readonly keys: Key[];

  /** @throws {Error} saying which secret is unusable by its place in the list, never by its value. */
  constructor(secrets: readonly string[]) {
    this.keys = secrets.map((secret, index) => {
      const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64').length;
      if (bytes < KEY_BYTES.min || bytes > KEY_BYTES.max) {
        throw new Error(`secret ${index + 1} must be whsec_ and ${KEY_BYTES.min} to ${KEY_BYTES.max} bytes in base64`);
      }
      return {
        id: createHash('sha256').update(secret).digest('base64url').slice(0, 8),
        webhook: usable(secret, index),
      };
    });
  }

  /** Names of the signing keys, which reveal nothing about them. */
  get keyIds(): string[] {
    return this.keys.map(({ id }) => id);
  }

  /** The headers of a message: always its id and the attempt's time, and a signature per secret. */
  headers(webhookId: string, sentAt: Date, body: string): Record<string, string> {
    const signatures = this.keys.map(({ webhook }) => webhook.sign(webhookId, sentAt, body));
    return {
      'webhook-id': webhookId,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
    };
  }
}

function usable(secret: string, index: number): Webhook {
  try {
    return new Webhook(secret);
  } catch {
    throw new Error(`secret ${index + 1} is not base64 after the prefix whsec_`);
  }
}
