import { z } from 'zod';
import { uuid } from '../../http/uuid';
import {
  azureCredentialFields,
  type AzureCredentials,
  azureCredentialsSchema,
  azureEndpointUrl,
  azureFields,
} from '../../storage/azure/azure-schemas';
import { type GcsCredentials, gcsCredentialsSchema, gcsFields } from '../../storage/gcs/gcs-schemas';
import { roleArn, type S3Credentials, s3CredentialsSchema, s3Fields } from '../../storage/s3/s3-schemas';
import { endpointUrl } from '../../storage/store-schemas';

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

/** Fields of every kind of store: how objects are named below the bucket, and shown. */
const layoutFields = {
  prefix,
  include_bucket_in_prefix: z.boolean().default(false),
  /** The folder above the dates: some readers of Hive partitions want every one to be `key=value`. */
  runs_folder: z.enum(['runs', 'resource=runs']).default('runs'),
};

/** The external endpoint, which is only shown: nothing connects to it. */
const outside = { external_endpoint_url: endpointUrl.nullish() };

const s3ConfigSchema = z
  .strictObject({ ...s3Fields, ...layoutFields, ...outside })
  .refine((config) => config.endpoint_url != null || config.region != null, {
    path: ['region'],
    error: 'is required for AWS buckets (when endpoint_url is omitted)',
  });
const gcsConfigSchema = z.strictObject({ ...gcsFields, ...layoutFields, ...outside });
const azureConfigSchema = z.strictObject({
  ...azureFields,
  ...layoutFields,
  external_endpoint_url: azureEndpointUrl.nullish(),
});

const displayName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[a-zA-Z0-9\-_ ']+$/, "may hold letters, digits, spaces and -_'");

export const createDestinationSchema = z
  .discriminatedUnion(
    'destination_type',
    [
      z.strictObject({
        destination_type: z.literal('s3'),
        display_name: displayName,
        config: s3ConfigSchema,
        credentials: s3CredentialsSchema.optional(),
        /** The same as in `config`. */
        aws_role_arn: roleArn.nullish(),
      }),
      z.strictObject({
        destination_type: z.literal('gcs'),
        display_name: displayName,
        config: gcsConfigSchema,
        credentials: gcsCredentialsSchema.optional(),
      }),
      z.strictObject({
        destination_type: z.literal('azure_blob'),
        display_name: displayName,
        config: azureConfigSchema,
        credentials: azureCredentialsSchema,
      }),
    ],
    { error: 'must be s3, gcs or azure_blob' },
  )
  .transform((request, context) => {
    if (request.destination_type !== 's3') return request;
    const { aws_role_arn: role, config, ...body } = request;
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

/** The credentials of each kind of destination. */
export const CREDENTIALS = { s3: s3CredentialsSchema, gcs: gcsCredentialsSchema, azure_blob: azureCredentialsSchema };

/** The valid credentials depend on the destination: `CREDENTIALS` checks them once it is known. */
export const updateDestinationSchema = z
  .strictObject({
    credentials: z
      .strictObject({
        ...s3CredentialsSchema.partial().shape,
        ...gcsCredentialsSchema.partial().shape,
        ...azureCredentialFields,
      })
      .optional(),
    aws_role_arn: roleArn.optional(),
  })
  .refine(({ credentials, aws_role_arn: role }) => (credentials === undefined) !== (role === undefined), {
    path: ['credentials'],
    error: 'give either credentials or aws_role_arn',
  });

export const destinationParamsSchema = z.object({ destination_id: uuid });

export const destinationSchema = z
  .object({
    id: z.guid(),
    tenant_id: z.guid(),
    destination_type: z.enum(['s3', 'gcs', 'azure_blob']),
    display_name: z.string(),
    config: z.looseObject({ prefix: z.string(), include_bucket_in_prefix: z.boolean() }),
    credentials_keys: z.array(z.string()).describe('Names of the credentials, which are never sent back'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'BulkExportDestination' });
export const destinationListSchema = z.array(destinationSchema);

export const destinationCheckSchema = z.object({
  operation: z.enum(['write', 'read', 'delete']),
  permission: z
    .string()
    .nullable()
    .describe('Name of the permission at the store; null if no request could be sent to it'),
  required: z.boolean().describe('Whether exports fail without it'),
  state: z.enum(['passed', 'failed', 'skipped']).describe('`skipped` if there is no object to read and delete'),
  error: z.string().nullable().describe('Why the operation failed, as a sentence without a full stop'),
  error_code: z.string().nullable().describe("The store's own code, or the system's"),
  error_hint: z.string().nullable().describe('Advice for the user'),
  consequence: z.string().nullable().describe('What an export lacks without the operation'),
});
export const destinationTestSchema = z
  .object({
    destination_id: z.guid(),
    usable: z.boolean().describe('Whether exports can be written'),
    complete: z.boolean().describe('Whether every operation is permitted'),
    checks: z.array(destinationCheckSchema),
  })
  .meta({ id: 'BulkExportDestinationTest' });
export type DestinationTest = z.output<typeof destinationTestSchema>;

export type CreateDestination = z.output<typeof createDestinationSchema>;
export type UpdateDestination = z.output<typeof updateDestinationSchema>;
export type DestinationType = CreateDestination['destination_type'];
export type DestinationCredentials = S3Credentials | GcsCredentials | AzureCredentials;
export type Destination = z.output<typeof destinationSchema>;

/** Destinations that were made before the folder could be chosen have none. */
type Stored<Config extends { runs_folder: unknown }> = Omit<Config, 'runs_folder'> &
  Partial<Pick<Config, 'runs_folder'>>;
export type S3Config = Stored<z.output<typeof s3ConfigSchema>>;
export type GcsConfig = Stored<z.output<typeof gcsConfigSchema>>;
export type AzureConfig = Stored<z.output<typeof azureConfigSchema>>;
export type DestinationConfig = S3Config | GcsConfig | AzureConfig;

/** Where a destination is, with the kind of its store. */
export type DestinationPlace =
  ({ type: 's3' } & S3Config) | ({ type: 'gcs' } & GcsConfig) | ({ type: 'azure_blob' } & AzureConfig);
