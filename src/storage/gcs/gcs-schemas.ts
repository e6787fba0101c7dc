import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../http/json-limits';
import { bucketName, endpointUrl } from '../store-schemas';

/** Where a bucket of Google Cloud Storage is. */
export const gcsFields = {
  bucket_name: bucketName,
  /** In place of Google's own address: a private endpoint, or an emulator. */
  endpoint_url: endpointUrl.nullish(),
};

/** A file of Google's has a dozen texts. */
const KEY_LIMITS = { depth: 5, tokens: 200 };

const keySchema = z.looseObject({
  type: z.literal('service_account', 'must be service_account: other kinds of credentials name addresses to ask'),
  client_email: z.string().min(1).max(320),
  private_key_id: z.string().max(255).optional(),
  private_key: z.string().max(8192).refine(isPrivateKey, 'must be a private key in PEM'),
});

/** The key of a service account, as Google's console writes it into a file: as an object, or as the text of the file. */
export const gcsCredentialsSchema = z.strictObject({
  service_account_key: z
    .preprocess((value, context) => {
      if (typeof value !== 'string') return value;
      try {
        return parseJson(value, KEY_LIMITS);
      } catch {
        context.addIssue({ code: 'custom', message: 'must be the JSON of a service account key', input: undefined });
        return z.NEVER;
      }
    }, keySchema)
    // Nothing else of the file is used, or kept.
    .transform(({ type, client_email, private_key_id, private_key }) => ({
      type,
      client_email,
      private_key_id,
      private_key,
    })),
});

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

export type GcsLocation = z.output<z.ZodObject<typeof gcsFields>>;
export type GcsCredentials = z.output<typeof gcsCredentialsSchema>;
