import { z } from 'zod';
import { ENTITLEMENTS } from './entitlements';

export const meSchema = z.object({
  tenant_id: z.string(),
  kind: z.enum(['none', 'api_key', 'user']).describe('How the request was authenticated'),
  identity: z.string().nullable().describe('Id of the key or of the user'),
  permissions: z.array(z.string()).nullable().describe('Of the user, as the custom auth says'),
  entitlements: z.record(z.enum(ENTITLEMENTS), z.boolean()),
});
export type Me = z.output<typeof meSchema>;
