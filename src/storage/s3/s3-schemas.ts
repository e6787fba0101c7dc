import { z } from 'zod';
import { bucketName, endpointUrl } from '../store-schemas';

/** Options that are passed to each written object. */
const objectOptionsSchema = z.strictObject({
  ServerSideEncryption: z.enum(['AES256', 'aws:kms', 'aws:kms:dsse']).optional(),
  SSEKMSKeyId: z.string().min(1).max(2048).optional(),
  SSEKMSEncryptionContext: z.string().min(1).max(2048).optional(),
  BucketKeyEnabled: z.boolean().optional(),
  StorageClass: z
    .enum(['STANDARD', 'STANDARD_IA', 'ONEZONE_IA', 'INTELLIGENT_TIERING', 'GLACIER_IR', 'REDUCED_REDUNDANCY'])
    .optional(),
  ACL: z
    .enum(['private', 'bucket-owner-read', 'bucket-owner-full-control', 'authenticated-read', 'aws-exec-read'])
    .optional(),
  Tagging: z.string().min(1).max(2048).optional(),
  /** Checksum in place of Content-MD5; not every store knows them. */
  ChecksumAlgorithm: z.enum(['CRC32', 'CRC32C', 'SHA1', 'SHA256']).optional(),
  ObjectLockMode: z.enum(['GOVERNANCE', 'COMPLIANCE']).optional(),
  ObjectLockRetainUntilDate: z.iso.datetime({ offset: true }).optional(),
  ObjectLockLegalHoldStatus: z.enum(['ON', 'OFF']).optional(),
});

const clientOptionsSchema = z.strictObject({
  addressing_style: z.enum(['auto', 'virtual', 'path']).optional(),
  use_accelerate_endpoint: z.boolean().optional(),
  payload_signing_enabled: z.boolean().optional(),
  us_east_1_regional_endpoint: z.enum(['regional', 'legacy']).optional(),
});

/** A role that the server's own identity assumes to write, in place of credentials. */
export const roleArn = z
  .string()
  .max(2048)
  .regex(
    /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/,
    'must be the ARN of a role, such as arn:aws:iam::123456789012:role/exports',
  );

/** Where a bucket of S3, or of a store with its API, is, and how it is written to. */
export const s3Fields = {
  bucket_name: bucketName,
  // Part of the host's name for AWS: it must not lead to another.
  region: z
    .string()
    .max(64)
    .regex(/^[a-z0-9]+([-_][a-z0-9]+)*$/i, 'must be a region such as eu-central-1')
    .nullish(),
  /** The inside address: where this server's processes reach the store. */
  endpoint_url: endpointUrl.nullish(),
  s3_additional_kwargs: objectOptionsSchema.nullish(),
  config_kwargs_s3: clientOptionsSchema.nullish(),
  aws_role_arn: roleArn.nullish(),
};

export const s3CredentialsSchema = z.strictObject({
  access_key_id: z.string().min(1).max(255),
  secret_access_key: z.string().min(1).max(2048),
  session_token: z.string().min(1).max(2048).nullish(),
});

export type S3Location = z.output<z.ZodObject<typeof s3Fields>>;
export type S3Credentials = z.output<typeof s3CredentialsSchema>;
