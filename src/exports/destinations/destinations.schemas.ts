import { z } from 'zod';
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

const configSchema = z
  .strictObject({
    ...s3Fields,
    prefix,
    /** The outside address: what people are shown. Nothing connects to it. */
    external_endpoint_url: endpointUrl.nullish(),
    include_bucket_in_prefix: z.boolean().default(false),
    /** The folder above the dates: some readers of Hive partitions want every one to be `key=value`. */
    runs_folder: z.enum(['runs', 'resource=runs']).default('runs'),
  })
  .refine((config) => config.endpoint_url != null || config.region != null, {
    path: ['region'],
    error: 'is required for AWS buckets (when endpoint_url is omitted)',
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
    credentials: s3CredentialsSchema.optional(),
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
  .strictObject({ credentials: s3CredentialsSchema.optional(), aws_role_arn: roleArn.optional() })
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
export type DestinationCredentials = S3Credentials;
export type Destination = z.output<typeof destinationSchema>;
