import { z } from 'zod';

/** What is passed through to each object that is written. */
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

const endpointUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2048)
  .refine((value) => !URL.canParse(value) || new URL(value).username === '', 'must not hold credentials')
  .refine((value) => !URL.canParse(value) || ['', '/'].includes(new URL(value).pathname), 'must not have a path');

/** `/a//b/` and `a/b` name the same place; a segment that climbs does not. */
const prefix = z
  .string()
  .max(2048)
  .transform((value) =>
    value
      .split('/')
      .filter((segment) => segment !== '')
      .join('/'),
  )
  .refine((value) => !value.split('/').some((segment) => segment === '.' || segment === '..'), 'must not hold . or ..');

/** A role that the server's own identity assumes to write, in place of credentials. */
const roleArn = z
  .string()
  .max(2048)
  .regex(
    /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/,
    'must be the ARN of a role, such as arn:aws:iam::123456789012:role/exports',
  );

const configSchema = z
  .strictObject({
    bucket_name: z
      .string()
      .min(3)
      .max(63)
      .regex(/^[a-z0-9][a-z0-9.\-_]*[a-z0-9]$/i, 'must be a bucket name'),
    prefix,
    // Part of the host's name for AWS: it must not lead to another.
    region: z
      .string()
      .max(64)
      .regex(/^[a-z0-9]+([-_][a-z0-9]+)*$/i, 'must be a region such as eu-central-1')
      .nullish(),
    /** The inside address: where this server's processes reach the store. */
    endpoint_url: endpointUrl.nullish(),
    /** The outside address: what people are shown. Nothing connects to it. */
    external_endpoint_url: endpointUrl.nullish(),
    include_bucket_in_prefix: z.boolean().default(false),
    /** The folder above the dates: some readers of Hive partitions want every one to be `key=value`. */
    runs_folder: z.enum(['runs', 'resource=runs']).default('runs'),
    s3_additional_kwargs: objectOptionsSchema.nullish(),
    config_kwargs_s3: clientOptionsSchema.nullish(),
    aws_role_arn: roleArn.nullish(),
  })
  .refine((config) => config.endpoint_url != null || config.region != null, {
    path: ['region'],
    error: 'is required for AWS buckets (when endpoint_url is omitted)',
  });

const credentialsSchema = z.strictObject({
  access_key_id: z.string().min(1).max(255),
  secret_access_key: z.string().min(1).max(2048),
  session_token: z.string().min(1).max(2048).nullish(),
});

export const createDestinationSchema = z
  .strictObject({
    destination_type: z.literal('s3'),
    display_name: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[a-zA-Z0-9\-_ ']+$/, "may hold letters, digits, spaces and -_'"),
    config: configSchema,
    credentials: credentialsSchema.optional(),
    /** The same as in `config`. */
    aws_role_arn: roleArn.nullish(),
  })
  .transform(({ aws_role_arn: role, config, ...body }, context) => {
    if (role != null && config.aws_role_arn != null && role !== config.aws_role_arn) {
      context.addIssue({ code: 'custom', path: ['aws_role_arn'], message: 'differs from config.aws_role_arn' });
    }
    if ((role ?? config.aws_role_arn) != null && body.credentials) {
      context.addIssue({
        code: 'custom',
        path: ['aws_role_arn'],
        message: 'is in place of credentials: give one of them',
      });
    }
    return { ...body, config: role == null ? config : { ...config, aws_role_arn: role } };
  });

export const updateDestinationSchema = z
  .strictObject({ credentials: credentialsSchema.optional(), aws_role_arn: roleArn.optional() })
  .refine(({ credentials, aws_role_arn: role }) => (credentials === undefined) !== (role === undefined), {
    path: ['credentials'],
    error: 'give either credentials or aws_role_arn',
  });

export const destinationParamsSchema = z.object({ destination_id: z.guid() });

export const destinationSchema = z.object({
  id: z.guid(),
  tenant_id: z.guid(),
  destination_type: z.literal('s3'),
  display_name: z.string(),
  config: z.looseObject({ bucket_name: z.string(), prefix: z.string(), include_bucket_in_prefix: z.boolean() }),
  credentials_keys: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
});

export type CreateDestination = z.output<typeof createDestinationSchema>;
export type UpdateDestination = z.output<typeof updateDestinationSchema>;
export type DestinationConfig = Omit<CreateDestination['config'], 'runs_folder'> &
  Partial<Pick<CreateDestination['config'], 'runs_folder'>>;
export type DestinationCredentials = z.output<typeof credentialsSchema>;
export type Destination = z.output<typeof destinationSchema>;
