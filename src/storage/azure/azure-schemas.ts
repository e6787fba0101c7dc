import { z } from 'zod';

/** An endpoint of Azure may name the account in its path, as emulators and private endpoints have it. */
export const azureEndpointUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2048)
  .refine((value) => !URL.canParse(value) || new URL(value).username === '', 'must not hold credentials')
  .refine((value) => !URL.canParse(value) || new URL(value).search === '', 'must not have a query')
  .refine(
    (value) => !URL.canParse(value) || /^\/?([a-z0-9]{3,24}\/?)?$/.test(new URL(value).pathname),
    'must not have a path, or that of an account',
  );

/** Where a container of Azure Blob Storage is. */
export const azureFields = {
  // Part of the host's name: it must not lead to another.
  account_name: z.string().regex(/^[a-z0-9]{3,24}$/, 'must be a storage account: 3 to 24 small letters and digits'),
  container_name: z
    .string()
    .min(3)
    .max(63)
    .regex(/^[a-z0-9]([a-z0-9]|-(?=[a-z0-9]))*$/, 'must be a container name'),
  /** In place of `https://<account_name>.blob.core.windows.net`. */
  endpoint_url: azureEndpointUrl.nullish(),
};

export const azureCredentialFields = {
  account_key: z.base64('must be the base64 of an account key').min(1).max(255).optional(),
  sas_token: z
    .string()
    .max(2048)
    .transform((value) => value.replace(/^\?/, ''))
    .refine((value) => new URLSearchParams(value).has('sig'), 'must be a SAS token: its parameters include sig')
    .optional(),
};

/** The key of the account, or a shared access signature for the container. */
export const azureCredentialsSchema = z
  .strictObject(azureCredentialFields)
  .refine(({ account_key: key, sas_token: sas }) => (key === undefined) !== (sas === undefined), {
    path: ['account_key'],
    error: 'give either account_key or sas_token',
  });

export type AzureLocation = z.output<z.ZodObject<typeof azureFields>>;
export type AzureCredentials = z.output<typeof azureCredentialsSchema>;
