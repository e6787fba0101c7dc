import { z } from 'zod';

/** Address of a store: an origin without path and credentials. */
export const endpointUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2048)
  .refine((value) => !URL.canParse(value) || new URL(value).username === '', 'must not hold credentials')
  .refine((value) => !URL.canParse(value) || ['', '/'].includes(new URL(value).pathname), 'must not have a path');

/** Name of a bucket of S3 or Google Cloud Storage. */
export const bucketName = z
  .string()
  .min(3)
  .max(63)
  .regex(/^[a-z0-9][a-z0-9.\-_]*[a-z0-9]$/i, 'must be a bucket name');
